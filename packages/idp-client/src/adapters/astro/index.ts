export * from '../../public.ts'
export type { OriginCheckOptions } from '../web/origin-check.ts'
export {
  type AstroOptions,
  type FrameworkRequest,
  type FrameworkResponse,
  IdpClient,
  type PageGuardOptions,
} from './client.ts'
export type { AstroMiddleware } from './origin-check.ts'
export { ALL } from './route.ts'
