export * from '../../public.ts'
export * from './client.ts'
