export type { RouteRequestError } from '../browser/request-error.ts'
export type { User } from '../session/model/session-data.ts'
export { type UserSession, useUserSession } from './user-session.ts'
