export { customClock, customFetch } from '../config/options.ts'
export type { User } from '../session/model/session-data.ts'
export { ContractViolation } from './adapter-contract/claim.ts'
export {
  type CallingStyle,
  type ContractCase,
  type ContractHost,
  type ContractUser,
  contractHooks,
  type WayBack,
} from './adapter-contract/host.ts'
export type {
  ContractUpstream,
  InwardPlace,
  OutwardPlace,
  PlainKind,
  PlainResponse,
  ProxiedOddity,
  ProxiedPlace,
  ProxiedRequest,
  ProxiedResponse,
  ProxyLimits,
} from './adapter-contract/upstream.ts'
export {
  adapterContract,
  frontChannelLogoutContract,
  lateWriteContract,
  proxyContract,
  unconfiguredContract,
} from './adapter-contract.ts'
export { type FakeClock, fakeClock } from './fake-clock.ts'
export {
  generateCookieHeader,
  generateSessionCookie,
  generateSessionCookies,
  type SessionCookieSecrets,
  type SessionCookieSettings,
  type TestSession,
} from './session-cookie.ts'
export { type StoreContractCase, type StoreContractOptions, storeContract } from './store-contract.ts'
