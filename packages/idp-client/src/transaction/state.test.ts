import { describe, expect, test } from 'vitest'
import { SECRET } from '../../test/support/engine.ts'
import { fc } from '../../test/support/fast-check.ts'
import { HOSTILE_RETURN_PATHS, returnPath } from '../../test/support/return-path.ts'
import { randomToken } from '../crypto/random.ts'
import { createSealer } from '../crypto/seal.ts'
import { utf8 } from '../lib/utf8.ts'
import { createState, decryptState } from './state.ts'

const sealer = createSealer([SECRET])
const note = { issuedAt: 1_800_000_000, host: 'app.example.com', returnTo: returnPath('/orders?page=2') }

describe('state', () => {
  test('has 256 random bits, different each time, and encrypted data', async () => {
    const states = await Promise.all(Array.from({ length: 100 }, () => createState(sealer, note)))
    expect(new Set(states.map((state) => state.slice(0, 43))).size).toBe(100)
    expect(states[0]).not.toContain('orders')
    expect(await decryptState(sealer, states[0] ?? '')).toEqual(note)
  })

  test('does not contain a long returnTo', async () => {
    const state = await createState(sealer, { ...note, returnTo: returnPath(`/${'x'.repeat(256)}`) })
    expect(await decryptState(sealer, state)).toEqual({ issuedAt: note.issuedAt, host: note.host })
  })

  test('contains whether its login started automatically', async () => {
    const state = await createState(sealer, { ...note, noRestart: true })
    expect(await decryptState(sealer, state)).toEqual({ ...note, noRestart: true })
  })

  test.each(HOSTILE_RETURN_PATHS)('an invalid sealed returnTo counts as absent: %j', async (target) => {
    const { host, issuedAt } = note
    const content = { v: 1, i: issuedAt, o: host, r: target }
    const state = `${randomToken(32)}.${await sealer.seal('state', utf8(JSON.stringify(content)))}`
    expect(await decryptState(sealer, state)).toEqual({ host, issuedAt })
  })

  test('a sealed returnTo is normalized', async () => {
    const { host, issuedAt } = note
    const content = { v: 1, i: issuedAt, o: host, r: '/a/../orders\\1\t' }
    const state = `${randomToken(32)}.${await sealer.seal('state', utf8(JSON.stringify(content)))}`
    expect(await decryptState(sealer, state)).toEqual({ host, issuedAt, returnTo: '/orders/1' })
  })

  test.each([{ v: 2 }, { i: '1' }, { o: 7 }])(
    'another version, or one without its time and host, is not decrypted: %j',
    async (changes) => {
      const content = { v: 1, i: note.issuedAt, o: note.host, ...changes }
      const state = `${randomToken(32)}.${await sealer.seal('state', utf8(JSON.stringify(content)))}`
      expect(await decryptState(sealer, state)).toBeNull()
    },
  )

  test('is rejected if it was forged', async () => {
    const state = await createState(sealer, note)
    const other = createSealer([`${SECRET}other`])
    expect(await decryptState(other, state)).toBeNull()
    for (const text of ['', 'x', state.slice(1), `${state}x`, state.slice(0, -1), state.slice(44)]) {
      expect(await decryptState(sealer, text)).toBeNull()
    }
    await fc.assert(
      fc.asyncProperty(fc.string(), async (text) => {
        expect(await decryptState(sealer, text)).toBeNull()
      }),
    )
  })
})
