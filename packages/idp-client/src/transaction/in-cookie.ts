import type { Config } from '../config/config.ts'
import { constantTimeEqual } from '../crypto/random.ts'
import type { Sealer } from '../crypto/seal.ts'
import { MAX_CANDIDATES } from '../http/chunks.ts'
import type { CookieScope } from '../http/cookie-jar.ts'
import { cookieScope } from '../http/cookie-scope.ts'
import type { Exchange } from '../http/exchange.ts'
import type { MaybePromise } from '../lib/chain.ts'
import { chain } from '../lib/chain.ts'
import { createCookieValue, readSealedPart, readTransactionCookies } from './cookie-value.ts'
import { createRestartGuard } from './restart-guard.ts'
import { createTransactionRoom } from './room.ts'
import type { TransactionLookup, TransactionStorage } from './storage.ts'
import { decodeTransaction } from './transaction.ts'

export interface CookieTransactionParts {
  readonly config: Config
  readonly sealer: Sealer
  readonly clientTag: () => MaybePromise<string>
  readonly baseUrl: (exchange: Exchange) => string
}

/* The first of these that occurs is the result if several cookies have the name. */
const PRECEDENCE: readonly TransactionLookup['kind'][] = ['found', 'expired', 'superseded', 'missing']

function preferred(one: TransactionLookup, other: TransactionLookup): TransactionLookup {
  return PRECEDENCE.indexOf(other.kind) < PRECEDENCE.indexOf(one.kind) ? other : one
}

/** Stores each transaction in an encrypted cookie; all in the same one if parallel transactions are disabled. */
export function createCookieTransactionStorage({
  config,
  sealer,
  clientTag,
  baseUrl,
}: CookieTransactionParts): TransactionStorage {
  const { parallel, cookie } = config.transaction
  const nameFor = (stateHash: string): string => (parallel ? cookie.prefix + stateHash : cookie.prefix)

  function getScope(exchange: Exchange, crossSitePost: boolean): CookieScope {
    const scope = cookieScope(cookie, () => baseUrl(exchange))
    return crossSitePost ? { ...scope, sameSite: 'none', secure: true } : scope
  }

  function open(value: string, stateHash: string): MaybePromise<TransactionLookup> {
    const sealed = readSealedPart(value)
    return chain(sealer.open('transaction', sealed), (bytes) =>
      chain(clientTag(), (tag): TransactionLookup => {
        const transaction = bytes && decodeTransaction(bytes)
        if (!transaction || !constantTimeEqual(transaction.clientTag, tag)) return { kind: 'missing' }
        if (!constantTimeEqual(transaction.stateHash, stateHash))
          return { kind: parallel ? 'missing' : 'superseded' }
        if (transaction.expiresAt <= config.clock()) return { kind: 'expired', transaction }
        return { kind: 'found', transaction, sealed }
      }),
    )
  }

  /** Returns the lookup of the highest precedence among these cookie values. */
  function openFirst(values: readonly string[], stateHash: string): MaybePromise<TransactionLookup> {
    const [value, ...others] = values
    if (value === undefined) return { kind: 'missing' }
    return chain(open(value, stateHash), (lookup) =>
      lookup.kind === 'found' || others.length === 0
        ? lookup
        : chain(openFirst(others, stateHash), (other) => preferred(lookup, other)),
    )
  }

  const scopeOfAll = (exchange: Exchange): CookieScope => getScope(exchange, false)
  const restartGuard = createRestartGuard(config, scopeOfAll)
  const room = createTransactionRoom(config, { getScope: scopeOfAll, restart: restartGuard.name })

  return {
    prepare(exchange, transaction) {
      const name = nameFor(transaction.stateHash)
      const scope = getScope(exchange, transaction.crossSitePost === true)
      return chain(
        createCookieValue(sealer, transaction, { name, left: room.left(exchange) }),
        (value) => (): void => {
          exchange.cookies.set({ name, scope }, value, cookie.maxAge)
          room.evict(exchange, name)
        },
      )
    },

    limit: (exchange) => room.evict(exchange),

    /** Reads all cookies of the name: another path or application may have set one, too. */
    load({ cookies }, stateHash) {
      return openFirst(cookies.all(nameFor(stateHash)).slice(0, MAX_CANDIDATES), stateHash)
    },

    clear(exchange, transaction) {
      const scope = getScope(exchange, transaction.crossSitePost === true)
      exchange.cookies.clear({ name: nameFor(transaction.stateHash), scope })
    },

    clearAll(exchange) {
      const scope = scopeOfAll(exchange)
      for (const { name } of readTransactionCookies(exchange.cookies, cookie.prefix)) {
        exchange.cookies.clear({ name, scope })
      }
    },

    claimRestart(exchange) {
      const isClaimed = restartGuard.claim(exchange)
      if (isClaimed) room.evict(exchange)
      return isClaimed
    },

    clearRestart: restartGuard.clear,
  }
}
