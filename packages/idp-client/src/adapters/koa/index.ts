export * from '../../public.ts'
export * from './client.ts'
export { type KoaContext, sendResponse } from './send.ts'
