import type { DevProvider, LoggedRequest } from 'idp-dev-provider'
import type { Outcome, SoakResponse } from './soak-user.ts'
import { HUNG, isResponse, LOST, SoakUser } from './soak-user.ts'

export interface SoakOptions {
  readonly provider: DevProvider
  readonly url: string
  readonly users: number
  readonly seconds: number
  /** Decides who does what; the same seed makes the same choices. */
  readonly seed: number
  /** The failure of the store after 45 % of the time. */
  readonly disturbance: { readonly name: string; run(): Promise<void> }
  readonly log: (line: string) => void
}

/** The counters of a run. Everything that must not happen has a counter of its own. */
export interface SoakReport {
  requests: number
  logins: number
  logouts: number
  updates: number
  /** Redemptions with a response of the provider. */
  refreshes: number
  /** Requests whose connection broke: they were in a process that was killed. */
  lostResponses: number
  /** Requests without a response: must be 0. */
  hung: number
  kills: number
  /** Typed errors by code. */
  errors: Record<string, number>
  /** Refresh tokens that the provider had seen before, of users whose request was in a killed process. */
  reuseAfterKill: number
  /** All others: must be 0. */
  reuse: number
  lostUpdates: number
  lostSessions: number
  /** Sessions that were there again after their logout. */
  resurrected: number
  /** Responses with another user's data. */
  foreign: number
  untyped: number
}

const LANES = 4
/** How many rounds of requests begin in a second, about twice as many at most. */
const PEOPLE_PER_SECOND = 25

/** A small random generator (mulberry32): nothing here needs more than that it can be repeated. */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** The known writes to one note. */
interface Lane {
  acknowledged: number
  attempted: number
}

class VirtualUser {
  readonly user: SoakUser
  readonly #subject: string
  readonly #report: SoakReport
  readonly #random: () => number
  readonly #seen: (response: SoakResponse) => void
  /** Longest time between two rounds, seconds. */
  readonly #pace: number
  /** A request of this session was in a killed process, so a redemption may have been as well. */
  #disturbed = false
  #lanes: Lane[] = []

  constructor(
    user: SoakUser,
    subject: string,
    around: {
      report: SoakReport
      random: () => number
      seen: (response: SoakResponse) => void
      pace: number
    },
  ) {
    this.user = user
    this.#subject = subject
    this.#report = around.report
    this.#random = around.random
    this.#seen = around.seen
    this.#pace = around.pace
  }

  /** Returns the response if it is a success; counts everything else. */
  async #ask(path: string, init?: RequestInit): Promise<SoakResponse | undefined> {
    const response = await this.user.send(path, init)
    return this.#judged(response)
  }

  #judged(response: Outcome): SoakResponse | undefined {
    const report = this.#report
    report.requests += 1
    if (response === LOST) {
      report.lostResponses += 1
      this.#disturbed = true
      return undefined
    }
    if (response === HUNG) {
      report.hung += 1
      return undefined
    }
    this.#seen(response)
    if (response.status < 400) return response
    if (response.code === undefined || response.code === 'UNTYPED') report.untyped += 1
    const code = [response.code ?? `status ${response.status}`, response.because, response.said]
      .filter((part) => part !== undefined)
      .join(' ')
    report.errors[code] = (report.errors[code] ?? 0) + 1
    if (response.code === 'NOT_AUTHENTICATED' || response.code === 'MISSING_SESSION') report.lostSessions += 1
    if (response.said === 'invalid_grant') {
      if (this.#disturbed) report.reuseAfterKill += 1
      else report.reuse += 1
    }
    return undefined
  }

  async #write(index: number, lane: Lane): Promise<void> {
    const value = lane.attempted + 1
    lane.attempted = value
    const body = JSON.stringify({ value })
    if (!(await this.#ask(`/notes/${index}`, { method: 'PUT', body }))) return
    lane.acknowledged = value
    this.#report.updates += 1
  }

  async #read(): Promise<void> {
    const known = this.#lanes.map(({ acknowledged }) => acknowledged)
    const response = await this.#ask('/notes')
    if (!response) return
    if (response.body['sub'] !== this.#subject) this.#report.foreign += 1
    const notes = (response.body['notes'] ?? {}) as Readonly<Record<string, number>>
    this.#lanes.forEach(({ attempted }, index) => {
      const value = notes[index] ?? 0
      if (value < (known[index] ?? 0)) this.#report.lostUpdates += 1
      if (value > attempted) this.#report.foreign += 1
    })
  }

  /** False when the session has no tokens any more. */
  async #token(): Promise<boolean> {
    const response = this.#judged(await this.user.send('/token'))
    if (response && response.body['subject'] !== this.#subject) this.#report.foreign += 1
    return response !== undefined
  }

  async #logOut(): Promise<void> {
    const captured = this.user.browser.copy()
    const response = this.#judged(await this.user.send('/auth/logout'))
    // A logout whose response was lost may have succeeded; the browser still has its cookies.
    if (!response) return this.user.browser.clear()
    this.#report.logouts += 1
    const after = await this.user.send('/notes', {}, captured)
    if (isResponse(after) && after.status < 400) this.#report.resurrected += 1
  }

  /** People look at what they got: without that, the load would be a matter of the machine alone. */
  #think(): Promise<void> {
    const seconds = this.#random() * this.#pace
    return new Promise((resolve) => setTimeout(resolve, seconds * 1000))
  }

  /** From a login to a logout. */
  async session(): Promise<void> {
    this.#disturbed = false
    this.#lanes = Array.from({ length: LANES }, () => ({ acknowledged: 0, attempted: 0 }))
    this.user.browser.clear()
    const response = this.#judged(await this.user.logIn())
    if (!response) return
    this.#report.logins += 1
    const rounds = 4 + Math.floor(this.#random() * 12)
    for (let round = 0; round < rounds; round++) {
      const writes = this.#lanes.flatMap((lane, index) =>
        this.#random() < 0.5 ? [this.#write(index, lane)] : [],
      )
      const [first, second] = await Promise.all([this.#token(), this.#token(), this.#read(), ...writes])
      await this.#read()
      await this.#think()
      if (this.#disturbed && !first && !second) break
    }
    await this.#logOut()
  }
}

const emptyReport = (): SoakReport => ({
  requests: 0,
  logins: 0,
  logouts: 0,
  updates: 0,
  refreshes: 0,
  lostResponses: 0,
  hung: 0,
  kills: 0,
  errors: {},
  reuseAfterKill: 0,
  reuse: 0,
  lostUpdates: 0,
  lostSessions: 0,
  resurrected: 0,
  foreign: 0,
  untyped: 0,
})

const isRefresh = ({ body }: LoggedRequest): boolean => body['grant_type'] === 'refresh_token'

/** Counts redemptions as they come in, since the provider's log forgets. */
function collectRefreshes(provider: DevProvider): { stop(): number } {
  let count = 0
  const collect = (): void => {
    count += provider.requests('token').filter(isRefresh).length
    provider.clearRequests()
  }
  const collecting = setInterval(collect, 1000)
  return {
    stop() {
      clearInterval(collecting)
      collect()
      return count
    },
  }
}

/**
 * Many people use the application at once while its processes are killed (after 30 % and 80 % of the time) and its store
 * is disturbed (after 45 %).
 */
export async function soak(options: SoakOptions): Promise<SoakReport> {
  const { disturbance, log, provider, seconds, seed, url, users } = options
  const report = emptyReport()
  const random = generator(seed)
  const processes = new Set<number>()
  const seen = ({ pid }: SoakResponse): void => {
    if (pid !== undefined) processes.add(pid)
  }
  const pace = users / PEOPLE_PER_SECOND
  const virtualUsers = await Promise.all(
    Array.from({ length: users }, async (_, index) => {
      const user = await provider.addUser({ name: `soak-${index}` })
      return new VirtualUser(new SoakUser(user.name, url, provider), user.sub, { report, random, seen, pace })
    }),
  )

  const start = performance.now()
  const elapsed = (): number => (performance.now() - start) / 1000
  const over = (): boolean => elapsed() >= seconds
  const at = (share: number): Promise<void> =>
    new Promise((resolve) => setTimeout(resolve, Math.max(0, seconds * share - elapsed()) * 1000))

  const dead = new Set<number>()

  async function kill(share: number): Promise<void> {
    await at(share)
    let pid: number | undefined
    // A response of a process that has ended may arrive late; a running process responds soon.
    while (pid === undefined) {
      pid = [...processes].find((candidate) => !dead.has(candidate))
      if (pid === undefined) await new Promise((resolve) => setTimeout(resolve, 50))
    }
    dead.add(pid)
    process.kill(pid, 'SIGKILL')
    report.kills += 1
    log(`${Math.round(elapsed())} s: a process was killed`)
  }

  async function disturb(share: number): Promise<void> {
    await at(share)
    log(`${Math.round(elapsed())} s: ${disturbance.name} begins`)
    await disturbance.run()
    log(`${Math.round(elapsed())} s: ${disturbance.name} is over`)
  }

  const refreshes = collectRefreshes(provider)
  const telling = setInterval(
    () => log(`${Math.round(elapsed())} s: ${report.requests} requests, ${report.logins} logins`),
    10_000,
  )
  try {
    await Promise.all([
      kill(0.3),
      // A process that ends while the store is down takes tokens with it that it could not write.
      disturb(0.45).then(() => kill(0.8)),
      ...virtualUsers.map(async (virtualUser) => {
        while (!over()) await virtualUser.session()
      }),
    ])
  } finally {
    clearInterval(telling)
    report.refreshes = refreshes.stop()
  }
  return report
}
