import type { User } from '../session/model/session-data.ts'
import type { RouteRequestError } from './request-error.ts'

/** The state that components see; replaced as a whole, never changed. */
export interface UserState {
  readonly user: User | null
  /** True until the first answer. */
  readonly isLoading: boolean
  /** Why the last request failed, or that this user needs a new login for a token. */
  readonly error: RouteRequestError | null
}

export const loading: UserState = { user: null, isLoading: true, error: null }
export const known = (user: User | null): UserState => ({ user, isLoading: false, error: null })
