export type { WebTarget } from './adapters/web/binding.ts'
export type {
  FrameworkRequest,
  FrameworkResponse,
  PageGuardOptions,
  WebHandler,
} from './adapters/web/client.ts'
export { IdpClient } from './adapters/web/client.ts'
export { continueWith, isContinue } from './adapters/web/continue.ts'
export type { WebHostClient } from './adapters/web/web-host.ts'
export * from './public.ts'
export type { User } from './session/model/session-data.ts'
