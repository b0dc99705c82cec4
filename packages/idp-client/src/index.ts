export {
  type FrameworkRequest,
  type FrameworkResponse,
  IdpClient,
  type PageGuardOptions,
  type WebHandler,
} from './adapters/web/client.ts'
export { continueWith, isContinue } from './adapters/web/continue.ts'
export * from './public.ts'
