export * from '../../public.ts'
export type { User } from '../../session/model/session-data.ts'
export { sendResponse } from '../node/send.ts'
export { type FrameworkRequest, type FrameworkResponse, IdpClient, type PageGuardOptions } from './client.ts'
