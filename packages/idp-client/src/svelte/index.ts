export type { UserState } from '../browser/page-state.ts'
export type { User } from '../session/model/session-data.ts'
export { type UserResult, type UseUserOptions, useUser } from './use-user.ts'
