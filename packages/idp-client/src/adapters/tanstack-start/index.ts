export * from '../../public.ts'
export type { User } from '../../session/model/session-data.ts'
export * from './client.ts'
