export * from '../../public.ts'
export {
  type EventHandler,
  type FrameworkRequest,
  type FrameworkResponse,
  IdpClient,
  type NitroApp,
  type PageGuardOptions,
} from './client.ts'
