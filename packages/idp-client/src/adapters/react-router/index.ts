export * from '../../public.ts'
export {
  action,
  type FrameworkRequest,
  type FrameworkResponse,
  IdpClient,
  loader,
  type PageGuardOptions,
} from './client.ts'
