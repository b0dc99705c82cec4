import { beforeAll, describe, expect, test } from 'vitest'
import * as nodeCipher from '../../src/crypto/cipher.node.ts'
import * as webCipher from '../../src/crypto/cipher.web.ts'
import { createSealer } from '../../src/crypto/seal.ts'
import { joinedCookies } from '../../src/http/chunks.ts'
import { CookieJar } from '../../src/http/cookie-jar.ts'
import { requestCookies } from '../../src/http/host-state.ts'
import { decodeSession } from '../../src/session/cookie/codec.ts'
import { createCookieSessionStorage } from '../../src/session/cookie/in-cookie.ts'
import type { Fixture } from '../support/cookie-fixtures.ts'
import { fixtures, plaintexts, read, writeMissing, written } from '../support/cookie-fixtures.ts'
import { formats } from '../support/cookie-formats.ts'
import { Cookies, engineFor, SECRET } from '../support/engine.ts'

beforeAll(async () => {
  if (process.env['WRITE_COOKIE_FIXTURES']) await writeMissing(formats)
})

const known = (): [string, Fixture][] => Object.entries(fixtures())

/* Nothing is published yet: a format that changes replaces its fixture. From the first published version on, fixtures stay. */
describe('formats of cookies', () => {
  test('each written format has a fixture', () => {
    expect(known().map(([name]) => name)).toEqual(expect.arrayContaining(Object.keys(formats)))
  })

  test('every format can be read', async () => {
    for (const [name, fixture] of known()) expect(await read(fixture), name).toEqual(fixture.content)
  })

  test('session cookies are the same on Node.js and on Web platforms', async () => {
    const [node, web] = [nodeCipher, webCipher].map((cipher) => createSealer([SECRET], cipher))
    for (const [name, { kind, values }] of known()) {
      if (kind !== 'session') continue
      const jar = new CookieJar(new Map(Object.entries(values)))
      for (const { value } of joinedCookies('__session', jar)) {
        const onNode = await node?.open('session', value)
        const onWeb = await web?.open('session', value)
        expect(onWeb, name).toEqual(onNode && new Uint8Array(onNode))
        expect(onWeb && decodeSession(onWeb)?.data, name).toEqual(onNode && decodeSession(onNode)?.data)
      }
    }
  })

  test('the current output equals the fixture of its format', async () => {
    const all = new Map(known())
    for (const [name, format] of Object.entries(formats)) {
      const fixture = all.get(name)
      expect(fixture, name).toMatchObject({ ...format })
      const now = await written(format)
      expect(Object.keys(now.values), name).toEqual(Object.keys(fixture?.values ?? {}))
      expect(now.records, name).toEqual(fixture?.records)
      expect(await plaintexts(now), name).toEqual(fixture && (await plaintexts(fixture)))
    }
  })

  test('a marker ends its session', async () => {
    const { 'logout-marker-1': marker, 'logout-marker-1-several': both, 'session-2': session } = fixtures()
    const sessions = createCookieSessionStorage(engineFor().engine)
    const load = (values: Fixture['values']) =>
      sessions.load({ ...new Cookies().exchange(), ...requestCookies(new Map(Object.entries(values))) })
    expect(await load({ ...session?.values })).not.toBeNull()
    expect(await load({ ...session?.values, ...marker?.values })).toBeNull()
    expect(await load({ ...session?.values, ...both?.values })).toBeNull()
  })
})
