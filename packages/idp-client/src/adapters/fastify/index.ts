export * from '../../public.ts'
export type { User } from '../../session/model/session-data.ts'
export { type FastifyClientOptions, type Guard, IdpClient, type PageGuardOptions } from './client.ts'
export type { FastifyPlugin, FastifyServer, FrameworkRequest, FrameworkResponse } from './plugin.ts'
