import { IdpError } from '../errors/base.ts'
import { failWithJson } from './fail-with-json.ts'
import type { Route } from './route.ts'

/** A route that is part of the contract but not of this version: it says so, instead of looking like a missing page. */
export function notAvailable(methods: readonly string[]): Route {
  const handle = (): Promise<Response> => Promise.reject(new IdpError('NOT_AVAILABLE'))
  return { methods, acts: 'on-any-request', load: async () => ({ handle, fail: failWithJson }) }
}
