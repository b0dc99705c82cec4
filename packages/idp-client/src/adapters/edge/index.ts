export type { Feature, FeatureName, Features } from '../../features.ts'
export * from '../../public.ts'
export {
  backchannelAuthentication,
  connectedAccounts,
  dpop,
  fetcher,
  mfa,
  privateKeyJwt,
  sessionStore,
  tokenExchange,
} from '../../rare-features.ts'
export { continueWith, isContinue } from '../web/continue.ts'
export type {
  FrameworkRequest,
  FrameworkResponse,
  PageGuardOptions,
  WebClient,
  WebHandler,
} from '../web/web-client.ts'
export { type EdgeClientOptions, IdpClient } from './client.ts'
