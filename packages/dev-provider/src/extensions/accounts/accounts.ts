import { DevProviderError } from '../../error.ts'
import type { ProviderState } from '../../oidc/state.ts'
import { DEFAULT_UPSTREAM_SCOPES } from './api.ts'
import type { ConnectedAccount } from './vault.ts'

export interface AccountOptions {
  /** One of the provider's connections. */
  readonly connection: string
  /** Default the name of the user. */
  readonly name?: string
  /** Default `upstream:read`. */
  readonly scopes?: readonly string[]
  /** Seconds since the epoch; from then on it hands out no tokens. Default never. */
  readonly expiresAt?: number
}

/**
 * The connected accounts of users, without the way through the browser. `user` is a name, subject or e-mail
 * address; an unknown one is a `DevProviderError`, like an unknown connection.
 */
export interface Accounts {
  list(user: string): readonly ConnectedAccount[]
  /** Connects an account; one of the same connection and name is replaced and keeps its id. */
  add(user: string, account: AccountOptions): ConnectedAccount
  /** Disconnects one account, or all. False: there was none. */
  remove(user: string, id?: string): boolean
}

export function createAccounts(state: ProviderState): Accounts {
  const getUser = (hint: string): { readonly sub: string; readonly name: string } => {
    const user = state.users.find(hint)
    if (!user) throw new DevProviderError('accounts: there is no user with that name.')
    return user
  }
  return {
    list: (user) => state.accounts.list(getUser(user).sub),
    add: (user, { connection, name, scopes = DEFAULT_UPSTREAM_SCOPES, expiresAt }) => {
      const owner = getUser(user)
      if (!state.connections.has(connection)) {
        throw new DevProviderError('accounts: there is no such connection; see the option connections.')
      }
      return state.accounts.connect(owner.sub, {
        connection,
        name: name ?? owner.name,
        scopes,
        ...(expiresAt === undefined ? {} : { expiresAt }),
      })
    },
    remove: (user, id) => {
      const { sub } = getUser(user)
      const ids = id === undefined ? state.accounts.list(sub).map((account) => account.id) : [id]
      return ids.map((one) => state.accounts.disconnect(sub, one)).includes(true)
    },
  }
}
