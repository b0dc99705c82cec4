export * from '../../public.ts'
export {
  type FrameworkRequest,
  type FrameworkResponse,
  IdpClient,
  type NitroApp,
  type PageGuardOptions,
} from './client.ts'
export type { EventHandler } from './event-handler.ts'
