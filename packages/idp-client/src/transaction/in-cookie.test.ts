import { describe, expect, test } from 'vitest'
import { Cookies, engineFor } from '../../test/support/engine.ts'
import { returnPath } from '../../test/support/return-path.ts'
import type { IdpClientOptions } from '../config/options.ts'
import { hashToken, randomToken } from '../crypto/random.ts'
import type { Engine } from '../engine.ts'
import { CookieJar } from '../http/cookie-jar.ts'
import type { LoginTransaction, Transaction } from './transaction.ts'

async function transaction(
  engine: Engine,
  changes: Partial<LoginTransaction> = {},
): Promise<LoginTransaction> {
  const startedAt = engine.config.clock()
  return {
    stateHash: await hashToken(randomToken()),
    responseType: 'code',
    nonce: randomToken(),
    codeVerifier: randomToken(),
    redirectUri: 'https://app.example.com/auth/callback',
    appBaseUrl: 'https://app.example.com',
    returnTo: returnPath('/'),
    scope: 'openid profile email offline_access',
    startedAt,
    expiresAt: startedAt + engine.config.transaction.cookie.maxAge,
    clientTag: await engine.clientTag(),
    ...changes,
  }
}

function browser(options: IdpClientOptions = {}) {
  const { engine, clock } = engineFor(options)
  const cookies = new Cookies()
  return {
    engine,
    clock,
    cookies,
    async begin(changes: Partial<LoginTransaction> = {}) {
      const begun = await transaction(engine, changes)
      const exchange = cookies.exchange()
      const stage = await engine.transactions.prepare(exchange, begun)
      stage()
      cookies.take(exchange)
      return begun
    },
    find: (begun: Transaction) => engine.transactions.load(cookies.exchange(), begun.stateHash),
  }
}

describe('transactions in cookies', () => {
  test('[S051,S090,S092,S093,S094] each login has a cookie with its own suffix and the default attributes', async () => {
    const { begin, cookies } = browser()
    const first = await begin()
    const second = await begin()
    expect([...cookies.stored.keys()]).toEqual([`__txn_${first.stateHash}`, `__txn_${second.stateHash}`])
    expect(cookies.stored.get(`__txn_${first.stateHash}`)?.attributes).toEqual({
      httpOnly: true,
      maxAge: 3600,
      path: '/',
      sameSite: 'lax',
      secure: true,
    })
  })

  test('[S090,S091,S092,S093,S094] have the attributes of the options', async () => {
    const { begin, cookies } = browser({
      transactionCookie: { prefix: 'login_', secure: true, sameSite: 'strict', path: '/auth', maxAge: 60 },
    })
    const { stateHash } = await begin()
    expect(cookies.stored.get(`login_${stateHash}`)?.attributes).toEqual({
      httpOnly: true,
      maxAge: 60,
      path: '/auth',
      sameSite: 'strict',
      secure: true,
    })
  })

  test('[S091] secure depends on the protocol of the base URL', async () => {
    const { begin, cookies } = browser({ appBaseUrl: 'http://localhost:3000' })
    await begin()
    expect([...cookies.stored.values()][0]?.attributes.secure).toBe(false)
  })

  test('[S233] the content is encrypted, and decrypted completely', async () => {
    const { begin, cookies, find } = browser()
    const begun = await begin({ audience: 'https://api.example.com', maxAge: 0 })
    const wire = JSON.stringify([...cookies.stored])
    expect(wire).not.toContain(begun.codeVerifier)
    expect(wire).not.toContain(begun.nonce)
    expect(await find(begun)).toMatchObject({ kind: 'found', transaction: begun })
  })

  test('a connection is decrypted completely; an unknown kind is rejected', async () => {
    const { cookies, engine, find } = browser()
    const { nonce: _none, scope: _neither, ...begun } = await transaction(engine)
    const ids = { authSession: 'a', sessionKey: 's', user: 'u' }
    const connection = { ...begun, ...ids, responseType: 'connect_code' } as const
    const keep = async (kept: unknown) => {
      const exchange = cookies.exchange()
      const stage = await engine.transactions.prepare(exchange, kept as Transaction)
      stage()
      cookies.take(exchange)
    }
    await keep(connection)
    expect(await find(connection)).toMatchObject({ kind: 'found', transaction: connection })
    for (const broken of [
      { ...connection, responseType: 'token' },
      { ...connection, sessionKey: undefined },
      { ...connection, authSession: undefined },
      { ...connection, user: undefined },
      { ...connection, responseType: 'code' },
    ]) {
      await keep(broken)
      expect(await find(connection)).toEqual({ kind: 'missing' })
    }
  })

  test('[S136] a transaction expires by its content, not only by its cookie', async () => {
    const { begin, clock, find } = browser()
    const begun = await begin()
    clock.now += 3599
    expect(await find(begun)).toMatchObject({ kind: 'found' })
    clock.now += 1
    expect(await find(begun)).toMatchObject({ kind: 'expired' })
  })

  test('five logins at the same time fit beside each other', async () => {
    const { begin, find, cookies } = browser()
    const begun = [await begin(), await begin(), await begin(), await begin(), await begin()]
    for (const one of begun) expect(await find(one)).toMatchObject({ kind: 'found' })
    expect(cookies.bytes()).toBeLessThan(3500)
  })

  test('thirty abandoned logins stay under 3500 bytes; the oldest are deleted, the newest completes', async () => {
    const { begin, clock, cookies, find } = browser()
    const begun: Transaction[] = []
    for (let count = 0; count < 30; count++) {
      begun.push(await begin({ returnTo: returnPath(`/page/${count}?${'q'.repeat(count * 20)}`) }))
      clock.now += 1
      expect(cookies.bytes()).toBeLessThan(3500)
    }
    const last = begun.at(-1)
    expect(last && (await find(last)).kind).toBe('found')
    expect(begun[0] && (await find(begun[0])).kind).toBe('missing')
  })

  test('cookies of logins without a start are the oldest, and deleted first', async () => {
    const { begin, cookies, find } = browser()
    const attributes = { path: '/', sameSite: 'lax', secure: true, httpOnly: true } as const
    const unknown = `__txn_${'x'.repeat(22)}`
    cookies.stored.set(unknown, { value: 'x'.repeat(2900), attributes })
    const first = await begin()
    const second = await begin()
    expect(cookies.stored.has(unknown)).toBe(false)
    expect([(await find(first)).kind, (await find(second)).kind]).toEqual(['found', 'found'])
  })

  test('the oldest login is deleted first, whatever the order of the cookies, and never the current one', async () => {
    const { begin, clock, find } = browser()
    const begun: Transaction[] = []
    for (let count = 0; count < 3; count++) {
      begun.push(await begin({ returnTo: returnPath(`/${'q'.repeat(700)}`) }))
      // The clock is set back.
      clock.now -= 10
    }
    const kinds = await Promise.all(begun.map(async (each) => (await find(each)).kind))
    expect(kinds).toEqual(['found', 'missing', 'found'])
  })

  test('[Q4] logins after an automatic restart do not allow another one', async () => {
    const { begin, clock, cookies, engine } = browser()
    const claim = (): boolean => {
      const exchange = cookies.exchange()
      const isClaimed = engine.transactions.claimRestart(exchange)
      cookies.take(exchange)
      return isClaimed
    }
    expect(claim()).toBe(true)
    for (let count = 0; count < 30; count++) {
      clock.now += 1
      await begin()
    }
    expect(claim()).toBe(false)
    clock.now += 30
    expect(claim()).toBe(true)
  })

  test('a transaction that is too large loses its scope first, then its audience, then returnTo', async () => {
    const { begin, find } = browser()
    const scoped = await begin({
      scope: 's'.repeat(3000),
      audience: 'https://api.example',
      returnTo: returnPath('/kept'),
    })
    const found = await find(scoped)
    expect(found.kind === 'found' && found.transaction.returnTo).toBe('/kept')
    expect(found.kind === 'found' && 'scope' in found.transaction).toBe(false)
    // A token for another API would pass for one of the configured API.
    expect(found).toMatchObject({ transaction: { audience: 'https://api.example' } })
    const long = await begin({ returnTo: returnPath(`/${'p'.repeat(2040)}`), scope: 's'.repeat(600) })
    const kept = await find(long)
    expect(kept.kind === 'found' && kept.transaction.codeVerifier).toBe(long.codeVerifier)
  })

  test('[S052,S053] with one shared cookie the later login replaces the earlier one, whose callback gets an error', async () => {
    const { begin, cookies, find } = browser({ enableParallelTransactions: false })
    const earlier = await begin()
    const later = await begin()
    expect([...cookies.stored.keys()]).toEqual(['__txn_'])
    expect(await find(earlier)).toEqual({ kind: 'superseded' })
    expect(await find(later)).toMatchObject({ kind: 'found' })
  })

  test.each([true, false])(
    '[C1] in every order: no other value of the name hides a transaction (parallel transactions: %s)',
    async (enableParallelTransactions) => {
      const { begin, clock, engine } = browser({ enableParallelTransactions })
      const name = (begun: Transaction) =>
        enableParallelTransactions ? `__txn_${begun.stateHash}` : '__txn_'
      const sealed = async (changes: Partial<LoginTransaction>, by = engine): Promise<string> => {
        const cookies = new Cookies()
        const exchange = cookies.exchange()
        const stage = await by.transactions.prepare(exchange, await transaction(by, changes))
        stage()
        cookies.take(exchange)
        return [...cookies.stored.values()][0]?.value ?? ''
      }
      const begun = await begin()
      const { stateHash } = begun
      const live = await sealed(begun)
      const over = await sealed({ stateHash, expiresAt: clock.now })
      const later = await sealed({ stateHash: 'of-a-later-login' })
      const foreign = engineFor({
        secret: 'another secret of thirty-two characters',
        clientId: 'other',
      }).engine
      const others = [await sealed({ stateHash }, foreign), '', 'garbage', `${live}x`]
      const kindOf = async (values: readonly string[]) => {
        const cookies = new CookieJar(new Map([[name(begun), values]]))
        const lookup = await engine.transactions.load({ ...new Cookies().exchange(), cookies }, stateHash)
        return lookup.kind
      }
      const orders = (...values: string[]) => [values, [...values].reverse()]
      for (const order of orders(...others, later, over, live)) expect(await kindOf(order)).toBe('found')
      for (const order of orders(later, ...others, over)) expect(await kindOf(order)).toBe('expired')
      const replaced = enableParallelTransactions ? 'missing' : 'superseded'
      for (const order of orders(...others, later)) expect(await kindOf(order)).toBe(replaced)
      for (const order of orders(...others)) expect(await kindOf(order)).toBe('missing')
    },
  )

  test('a transaction of another provider or client is rejected', async () => {
    const { begin, cookies } = browser()
    const begun = await begin()
    for (const other of [{ domain: 'other.example.com' }, { clientId: 'other' }]) {
      const { engine } = engineFor(other)
      expect(await engine.transactions.load(cookies.exchange(), begun.stateHash)).toEqual({ kind: 'missing' })
    }
  })

  test('unreadable cookies with the prefix are no transaction, and a logout deletes them all', async () => {
    const { begin, cookies, engine, find } = browser()
    const begun = await begin()
    const stored = cookies.stored.get(`__txn_${begun.stateHash}`)
    for (const value of [
      '',
      'x',
      '1:',
      `${stored?.value}x`,
      '9999999999999:eyJ',
      stored?.value.slice(3) ?? '',
    ]) {
      if (stored) cookies.stored.set(`__txn_${begun.stateHash}`, { ...stored, value })
      const lookup = await find(begun)
      expect(lookup.kind === 'missing' || value === stored?.value.slice(3)).toBe(true)
    }
    const exchange = cookies.exchange()
    engine.transactions.clearAll(exchange)
    cookies.take(exchange)
    expect(cookies.stored.size).toBe(0)
  })

  test('the automatic restart is allowed once a minute', () => {
    const { clock, cookies, engine } = browser()
    const ask = () => {
      const exchange = cookies.exchange()
      const granted = engine.transactions.claimRestart(exchange)
      cookies.take(exchange)
      return granted
    }
    expect([ask(), ask(), ask()]).toEqual([true, false, false])
    clock.now += 61
    expect(ask()).toBe(true)
    const [{ value: recent = '' } = {}] = cookies.stored.values()
    for (const values of [
      ['1:1', recent],
      [recent, '1:1'],
    ]) {
      const jar = new CookieJar(new Map([['__txn_restart', values]]))
      expect(engine.transactions.claimRestart({ ...cookies.exchange(), cookies: jar })).toBe(false)
    }
  })
})
