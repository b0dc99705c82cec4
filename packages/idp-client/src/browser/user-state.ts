import type { User } from '../session/model/session-data.ts'
import type { RouteRequestError } from './request-error.ts'

/** State for components; replaced as a whole, never mutated. */
export interface UserState {
  readonly user: User | null
  /** True until the first response. */
  readonly isLoading: boolean
  /** Error of the last request, or that this user needs a new login for a token. */
  readonly error: RouteRequestError | null
}

export const loading: UserState = { user: null, isLoading: true, error: null }
export const known = (user: User | null): UserState => ({ user, isLoading: false, error: null })
