export * from '../../public.ts'
export {
  type FrameworkRequest,
  type FrameworkResponse,
  IdpClient,
  type MiddlewareOptions,
  type MiddlewareResult,
  type PageGuardOptions,
} from './client.ts'
