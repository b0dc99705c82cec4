export * from '../../public.ts'
export {
  type FrameworkRequest,
  type FrameworkResponse,
  IdpClient,
  type KoaClientOptions,
  type KoaMiddleware,
  type PageGuardOptions,
} from './client.ts'
export { type KoaContext, sendResponse } from './send.ts'
