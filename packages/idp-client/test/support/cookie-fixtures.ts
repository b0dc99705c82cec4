import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { Engine } from '../../src/engine.ts'
import { createEngine } from '../../src/engine.ts'
import { joinedCookies } from '../../src/http/chunks.ts'
import { CookieJar } from '../../src/http/cookie-jar.ts'
import { requestCookies } from '../../src/http/host-state.ts'
import type { SessionData, SessionDataStore } from '../../src/index.ts'
import { createCookieSessionStorage } from '../../src/session/cookie/in-cookie.ts'
import { decodeMarker } from '../../src/session/cookie/logout-marker.ts'
import { freshlyStored } from '../../src/session/model/session.ts'
import type { StoredSession } from '../../src/session/model/stored-session.ts'
import type { EndedSessions } from '../../src/session/session-slot.ts'
import type { MfaContext } from '../../src/tokens/mfa-context.ts'
import { openMfaContext, sealMfaContext } from '../../src/tokens/mfa-context.ts'
import type { GuardParameters } from '../../src/transaction/guard-login.ts'
import { openGuardParameters, sealGuardParameters } from '../../src/transaction/guard-login.ts'
import type { StateNote } from '../../src/transaction/state.ts'
import { createState, decryptState } from '../../src/transaction/state.ts'
import type { Transaction } from '../../src/transaction/transaction.ts'
import { Cookies, engineFor } from './engine.ts'

/*
 * Cookies and records as browsers and stores keep them. To add a format, add it to the list in
 * `cookie-formats.ts` and run
 *
 *   WRITE_COOKIE_FIXTURES=1 npx vitest run --project flows packages/idp-client/test/flows/cookie-formats.test.ts
 *
 * which writes the files that are missing and changes none.
 */

const folder = new URL('../fixtures/cookies/', import.meta.url)

/** One format: what is to be read of it, and in which way of keeping things. */
export type Format =
  | { readonly kind: 'session' | 'session in a store'; readonly content: StoredSession }
  | { readonly kind: 'transaction' | 'single transaction'; readonly content: Transaction }
  | { readonly kind: 'state'; readonly content: StateNote }
  | { readonly kind: 'mfa token'; readonly content: MfaContext }
  | { readonly kind: 'guard parameters'; readonly content: GuardParameters }
  | { readonly kind: 'logout marker'; readonly content: EndedSessions }

/** A format as a release wrote it. */
export type Fixture = Format & {
  /** Cookies by name; what travels in a query or a body has the name `value`. */
  readonly values: Readonly<Record<string, string>>
  /** Records of the store by id. */
  readonly records?: Readonly<Record<string, SessionData>>
}

type Written = Pick<Fixture, 'values' | 'records'>

function storeOf(records: Record<string, SessionData>): SessionDataStore {
  return {
    get: async (id) => records[id] ?? null,
    async set(id, session) {
      records[id] = JSON.parse(JSON.stringify(session))
    },
    async delete(id) {
      delete records[id]
    },
  }
}

function engineOf({ kind }: Pick<Format, 'kind'>, records: Record<string, SessionData> = {}): Engine {
  if (kind === 'single transaction') return engineFor({ enableParallelTransactions: false }).engine
  const { engine } = engineFor(kind === 'session in a store' ? { sessionStore: storeOf(records) } : {})
  if (kind === 'session in a store') return engine
  // Without the state of a process, which is not part of a format.
  const { destroy, save, ...storage } = createCookieSessionStorage(engine)
  const sessions: Engine['sessions'] = {
    ...storage,
    async save(...given) {
      await save(...given)
      return true
    },
    async destroy(exchange) {
      await destroy(exchange)
    },
  }
  return { ...createEngine(engine.config), sessions }
}

function exchangeOf(values: Fixture['values']) {
  return { ...new Cookies().exchange(), ...requestCookies(new Map(Object.entries(values))) }
}

async function tokenOf({ config, sealer, clientTag }: Engine, format: Format): Promise<string> {
  if (format.kind === 'state') return createState(sealer, format.content)
  if (format.kind === 'guard parameters')
    return sealGuardParameters({ config, sealer, clientTag }, format.content)
  if (format.kind === 'mfa token') return sealMfaContext({ config, sealer, clientTag }, format.content)
  throw new Error(`${format.kind} is a cookie`)
}

/** A logout of several sessions, whose cookies have the same name and come from different paths. */
async function stageMarker({ sessions }: Engine, cookies: Cookies, content: EndedSessions): Promise<void> {
  const { writtenAt } = content
  const data = {
    user: { sub: 'a' },
    tokenSet: { accessToken: 't', expiresAt: 0 },
    internal: { createdAt: writtenAt },
  }
  const values: string[] = []
  for (const sessionKey of content.sessionKeys) {
    const one = new Cookies()
    const exchange = one.exchange()
    await sessions.save(exchange, { ...freshlyStored(data, writtenAt), sessionKey })
    one.take(exchange)
    for (const { value } of one.stored.values()) values.push(value)
  }
  const exchange = { ...cookies.exchange(), ...requestCookies(new Map([['__session', values]])) }
  await sessions.destroy(exchange)
  cookies.take(exchange)
}

/** Stages what the format is about, by the functions that applications run. */
async function stage(engine: Engine, cookies: Cookies, format: Format): Promise<void> {
  const { sessions, transactions } = engine
  const exchange = cookies.exchange()
  if (format.kind === 'session' || format.kind === 'session in a store') {
    await sessions.save(exchange, format.content)
  } else if (format.kind === 'logout marker') {
    return stageMarker(engine, cookies, format.content)
  } else if (format.kind === 'transaction' || format.kind === 'single transaction') {
    const stageTransaction = await transactions.prepare(exchange, format.content)
    stageTransaction()
  }
  cookies.take(exchange)
}

/** Returns the cookies that the library writes today. */
export async function written(format: Format): Promise<Written> {
  const records: Record<string, SessionData> = {}
  const engine = engineOf(format, records)
  if (format.kind === 'state' || format.kind === 'mfa token' || format.kind === 'guard parameters') {
    return { values: { value: await tokenOf(engine, format) } }
  }
  const cookies = new Cookies()
  await stage(engine, cookies, format)
  const values = Object.fromEntries([...cookies.stored].map(([name, { value }]) => [name, value]))
  return format.kind === 'session in a store' ? { values, records } : { values }
}

/** Returns the value that the library reads from a fixture today. */
export async function read(fixture: Fixture): Promise<unknown> {
  const { records = {}, values } = fixture
  const engine = engineOf(fixture, { ...records })
  const { value = '' } = values
  switch (fixture.kind) {
    case 'session':
    case 'session in a store':
      return engine.sessions.load(exchangeOf(values))
    case 'state':
      return decryptState(engine.sealer, value)
    case 'mfa token':
      return openMfaContext(engine, value)
    case 'guard parameters':
      return openGuardParameters(engine, value)
    case 'logout marker': {
      const bytes = await engine.sealer.open('logout', values['__session__ended'] ?? '')
      return bytes && decodeMarker(bytes)
    }
    default: {
      const lookup = await engine.transactions.load(exchangeOf(values), fixture.content.stateHash)
      return lookup.kind === 'found' ? lookup.transaction : lookup
    }
  }
}

/* The encrypted part is at the end, whatever precedes it; its header names the purpose. */
const SEALED = /eyJ[\w-]*\.\.[\w-]+\.[\w-]+\.[\w-]+$/

/** Everything that is encrypted in it, by the names of cookies, as text. */
export async function plaintexts({ values }: Written): Promise<Record<string, string>> {
  const { sealer } = engineFor().engine
  const jar = new CookieJar(new Map(Object.entries(values)))
  const names = new Set(Object.keys(values).map((name) => name.replace(/(?<=session)__\d+$/, '')))
  const texts = [...names].map(async (name) => {
    const [joined] = joinedCookies(name, jar)
    const [sealed = ''] = SEALED.exec(joined?.value ?? '') ?? []
    const { typ } = JSON.parse(Buffer.from(sealed.split('.')[0] ?? '', 'base64url').toString())
    const bytes = await sealer.open(typ, sealed)
    return [name, `${typ}: ${Buffer.from(bytes ?? []).toString('latin1')}`] as const
  })
  return Object.fromEntries(await Promise.all(texts))
}

export function fixtures(): Record<string, Fixture> {
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'))
  return Object.fromEntries(
    files.map((file) => [file.slice(0, -5), JSON.parse(readFileSync(new URL(file, folder), 'utf8'))]),
  )
}

/** Writes the fixtures that there are not yet. */
export async function writeMissing(formats: Readonly<Record<string, Format>>): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const known = fixtures()
  for (const [name, format] of Object.entries(formats)) {
    if (name in known) continue
    const fixture = { ...format, ...(await written(format)) }
    writeFileSync(new URL(`${name}.json`, folder), `${JSON.stringify(fixture, null, 2)}\n`)
  }
}
