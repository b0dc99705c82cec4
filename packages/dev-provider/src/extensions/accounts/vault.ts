import { randomUUID } from 'node:crypto'

/** An account at an upstream provider whose tokens a user has put into this provider's hands. */
export interface ConnectedAccount {
  readonly id: string
  readonly connection: string
  /** Selects the account with `login_hint`; unique per user and connection. */
  readonly name: string
  readonly scopes: readonly string[]
  /** Seconds since the epoch. */
  readonly createdAt: number
  /** Seconds since the epoch; from then on it hands out no tokens. Default never. */
  readonly expiresAt?: number
}

/** An account before it is connected. */
export type NewAccount = Pick<ConnectedAccount, 'connection' | 'name' | 'scopes' | 'expiresAt'>

export interface Page {
  readonly accounts: readonly ConnectedAccount[]
  /** Where the next page starts; absent on the last one. */
  readonly next?: number
}

export interface PageRequest {
  readonly take: number
  /** {@link Page.next} of the page before. */
  readonly from: number
  readonly connection?: string
}

/** The connected accounts of one provider. */
export interface AccountVault {
  /** In the order in which they were connected. */
  list(sub: string): readonly ConnectedAccount[]
  page(sub: string, request: PageRequest): Page
  /** Connects an account; one of the same connection and name keeps its id. */
  connect(sub: string, account: NewAccount): ConnectedAccount
  /** False: the user has no such account. */
  disconnect(sub: string, id: string): boolean
  /** Whether the user ever connected an account of that connection. */
  hasUsed(sub: string, connection: string): boolean
}

/** An account and its place in the order of all, which survives what happens to others between two pages. */
interface Entry {
  readonly place: number
  readonly account: ConnectedAccount
}

/** An empty vault on the given clock (seconds). */
export function createAccountVault(now: () => number): AccountVault {
  const entries = new Map<string, readonly Entry[]>()
  const used = new Set<string>()
  let places = 0

  const getEntries = (sub: string): readonly Entry[] => entries.get(sub) ?? []
  const usedKey = (sub: string, connection: string): string => JSON.stringify([sub, connection])
  return {
    list: (sub) => getEntries(sub).map(({ account }) => account),
    page: (sub, { take, from, connection }) => {
      const rest = getEntries(sub)
        .filter(({ place }) => place >= from)
        .filter(({ account }) => connection === undefined || account.connection === connection)
      const next = rest[take]?.place
      return {
        accounts: rest.slice(0, take).map(({ account }) => account),
        ...(next === undefined ? {} : { next }),
      }
    },
    connect: (sub, account) => {
      const isSame = ({ account: known }: Entry): boolean =>
        known.connection === account.connection && known.name === account.name
      const before = getEntries(sub)
      const id = before.find(isSame)?.account.id ?? `cac_${randomUUID().replaceAll('-', '')}`
      const connected: ConnectedAccount = { id, ...account, createdAt: now() }
      places += 1
      entries.set(sub, [...before.filter((entry) => !isSame(entry)), { place: places, account: connected }])
      used.add(usedKey(sub, account.connection))
      return connected
    },
    disconnect: (sub, id) => {
      const before = getEntries(sub)
      const after = before.filter(({ account }) => account.id !== id)
      entries.set(sub, after)
      return after.length < before.length
    },
    hasUsed: (sub, connection) => used.has(usedKey(sub, connection)),
  }
}
