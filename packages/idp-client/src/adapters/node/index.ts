export * from '../../public.ts'
export { type FrameworkRequest, type FrameworkResponse, IdpClient, type PageGuardOptions } from './client.ts'
export { sendResponse } from './send.ts'
