export type { UserState } from '../../browser/page-state.ts'
export type { User } from '../../session/model/session-data.ts'
export { type MockedUser, mockUser } from './mock-user.ts'
