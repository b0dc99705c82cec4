export * from '../../public.ts'
export { type FrameworkResponse, IdpClient, type PageGuardOptions } from './client.ts'
export type { EventHandler, FrameworkRequest } from './event-handler.ts'
export type { NitroApp } from './nitro-app.ts'
