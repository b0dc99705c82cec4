export * from '../../public.ts'
export {
  type FrameworkRequest,
  type FrameworkResponse,
  type Guard,
  type HonoClientOptions,
  IdpClient,
  type PageGuardOptions,
} from './client.ts'
