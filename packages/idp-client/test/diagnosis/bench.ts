import { inspect } from 'node:util'
import type { DevProviderOptions } from 'idp-dev-provider'
import { vi } from 'vitest'
import type { Remedy } from '../../src/errors/remedy.ts'
import type { IdpClientOptions } from '../../src/index.ts'
import type { Browser, World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'
import { SECRET } from '../support/engine.ts'

type LoginOptions = Parameters<World['authorize']>[1]

/** The environment of a mistake. Everything that it starts is stopped at the end of the case. */
export interface Bench {
  /** Starts a provider, and a client without a logger, so that its events are printed to the console. */
  start(options?: IdpClientOptions, providerOptions?: DevProviderOptions): Promise<World>
  /** Runs a login until it fails or completes; returns the last response of the application. */
  login(world: World, given?: { browser?: Browser; query?: string; as?: LoginOptions }): Promise<Response>
  /** A login up to its callback, which is not sent. */
  callback(options?: IdpClientOptions): Promise<{ world: World; browser: Browser; callback: string }>
  /** Runs at the end of the case. */
  defer(end: () => unknown): void
  /** Further strings that no line may contain. */
  readonly secrets: string[]
}

/** A mistake that users make. */
export interface Mistake {
  readonly mistake: string
  /** The remedy that the one line names; `null` if the library logs nothing. */
  readonly remedy: Remedy | null
  /** Makes it. What it throws to the application, if it throws, is what the developer reads. */
  readonly make: (bench: Bench) => Promise<unknown>
}

export interface Observation {
  /** The lines of the default logger, then what a console shows of an error that was thrown to the application. */
  readonly lines: readonly string[]
  /** Other output on the console: exceptions of the application's own code. */
  readonly exceptions: readonly unknown[]
  readonly secrets: readonly string[]
  readonly result: unknown
}

/** How a console shows an error: its message, then its properties. The stack is left out. */
function shown(error: Error): string {
  const { name, ...properties } = { ...error, name: error.name }
  return `${name}: ${error.message} ${inspect(properties, { breakLength: Number.POSITIVE_INFINITY })}`
}

export class Thrown {
  readonly error: Error

  constructor(error: Error) {
    this.error = error
  }
}

/** Returns the error that an operation throws. */
export async function thrownBy(operation: () => unknown): Promise<Thrown> {
  try {
    await operation()
  } catch (error) {
    if (error instanceof Error) return new Thrown(error)
    throw error
  }
  throw new Error('the operation did not throw')
}

async function walk(
  world: World,
  secrets: string[],
  {
    browser = world.newBrowser(),
    query = '',
    as = { user: 'alice' },
  }: NonNullable<Parameters<Bench['login']>[1]> = {},
): Promise<Response> {
  const started = await browser.send(`/auth/login${query}`)
  const location = started.headers.get('location')
  if (started.status !== 302 || location === null) return started
  for (const { value } of browser.cookies.values()) secrets.push(value)
  const callback = await world.authorize(location, as)
  for (const name of ['code', 'state']) secrets.push(new URL(callback).searchParams.get(name) ?? 'none')
  const response = await browser.send(callback)
  for (const { value } of browser.cookies.values()) secrets.push(value)
  return response
}

/** Makes a mistake and observes what the default logger says of it. */
export async function observe({ make }: Mistake): Promise<Observation> {
  // Each mistake is made in a process of its own: notices come once in each.
  Reflect.deleteProperty(globalThis, Symbol.for('idp-client'))
  const printed: unknown[] = []
  const note = (...values: unknown[]): void => void printed.push(...values)
  const spies = (['warn', 'error'] as const).map((name) => vi.spyOn(console, name).mockImplementation(note))
  const ends: (() => unknown)[] = []
  const secrets = [SECRET, 'alice', 'example.test']
  const bench: Bench = {
    secrets,
    defer: (end) => void ends.push(end),
    async start({ logger = undefined, ...options } = {}, providerOptions = {}) {
      const world = await startWorld({ ...options, logger }, providerOptions)
      ends.push(() => world.provider.stop())
      secrets.push(world.provider.clientSecret ?? SECRET)
      return world
    },
    login: (world, given) => walk(world, secrets, given),
    async callback(options) {
      const world = await bench.start(options)
      const browser = world.newBrowser()
      return { world, browser, callback: await world.authorize(await world.begin(browser)) }
    },
  }
  try {
    const result = await make(bench)
    const lines = printed.filter((value) => typeof value === 'string')
    const thrown = result instanceof Thrown ? [shown(result.error)] : []
    const exceptions = printed.filter((value) => typeof value !== 'string')
    return { lines: [...lines, ...thrown], exceptions, secrets, result }
  } finally {
    for (const spy of spies) spy.mockRestore()
    for (const end of ends.reverse()) await end()
  }
}

/** A line without what differs from run to run: ids, sizes, and where this run's provider lives. */
export function withoutChance(line: string): string {
  return line
    .replace(/\[[0-9a-f-]{36}\]/g, '[id]')
    .replace(/(?<=takes )\d+/, 'N')
    .replace(/(?<=largest: .*) \d+(?=[,.])/g, ' N')
    .replace(/https?:\/\/[\w.]+(?::\d+)?(?=\S*\/\.well-known\/)/, 'https://idp.example.com')
}
