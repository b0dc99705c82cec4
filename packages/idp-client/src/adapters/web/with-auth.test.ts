import { expect, test } from 'vitest'
import type { Auth } from '../../guards/auth.ts'
import { withAuth } from './with-auth.ts'

const auth: Auth = {
  kind: 'token',
  sub: 'carol',
  isClient: false,
  scope: '',
  claims: { sub: 'user' },
  exchange: () => Promise.reject(new Error('unused')),
  token: 'x',
}

/** Stands for the second argument of a server, such as that of Bun. */
class ServerInfo {
  readonly #address = '127.0.0.1'
  get address(): string {
    return this.#address
  }
  requestIp(): string {
    return this.#address
  }
}

test('adds auth to a context, and leaves the object of the host as it is', () => {
  const context = { params: { id: '1' } }
  expect(withAuth(auth, [context, 'more'])).toEqual([{ params: { id: '1' }, auth }, 'more'])
  expect(context).toEqual({ params: { id: '1' } })
  expect(withAuth(auth, [])).toEqual([{ auth }])
  expect(withAuth(undefined, [context])).toEqual([context])
})

test('an object of a class keeps its methods and private members', () => {
  const info = new ServerInfo()
  const [context] = withAuth(auth, [info]) as [ServerInfo & { auth: Auth }]
  expect([context.address, context.requestIp(), context.auth]).toEqual(['127.0.0.1', '127.0.0.1', auth])
  expect(info).not.toHaveProperty('auth')
})

test('the auth of the guard hides one that the host has', () => {
  const theirs = { auth: 'of the host' }
  const given = [theirs, Object.assign(new ServerInfo(), theirs)]
  for (const context of given) expect(withAuth(auth, [context])).toMatchObject([{ auth }])
})
