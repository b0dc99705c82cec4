export * from '../../public.ts'
export type { User } from '../../session/model/session-data.ts'
export type { WebTarget } from '../web/binding.ts'
export * from './client.ts'
