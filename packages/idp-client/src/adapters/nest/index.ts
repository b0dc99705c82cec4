export * from '../../public.ts'
export type { User } from '../../session/model/session-data.ts'
export {
  type FrameworkRequest,
  type FrameworkResponse,
  IdpClient,
  type PageGuardOptions,
  sendResponse,
} from './client.ts'
export { IdpAuth, IdpSession, RequireAuth, RequireLogin } from './guards.ts'
export { IdpModule, type IdpModuleAsyncOptions } from './module.ts'
