export type { User } from '../session/model/session-data.ts'
export {
  type IdpFixtures,
  type IdpOptions,
  type IdpWorkerFixtures,
  type IdpWorkerOptions,
  idpFixtures,
} from './fixtures.ts'
export type { SessionCookieOptions } from './session-state.ts'
export { type SignInOptions, signIn } from './sign-in.ts'
