export type { CookieAttributes, CookieScope } from '../../http/cookie-jar.ts'
export * from '../../public.ts'
export type { OriginCheckOptions } from '../web/origin-check.ts'
export {
  type EventCookies,
  type FrameworkRequest,
  type FrameworkResponse,
  type HandleInput,
  IdpClient,
  type PageGuardOptions,
  type SvelteKitOptions,
} from './client.ts'
export { checkOrigin } from './origin-check.ts'
