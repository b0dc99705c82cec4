export * from '../../public.ts'
export {
  type FrameworkRequest,
  type FrameworkResponse,
  IdpClient,
  type PageGuardOptions,
} from './client.ts'
export type { EventHandler } from './event-handler.ts'
export type { NitroApp } from './nitro-app.ts'
