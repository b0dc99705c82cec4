import type { Auth } from '../../guards/auth.ts'
import type { ApiGuardResult } from '../../guards/guards.ts'

/** Returns the further arguments of a handler, with `auth` in the first of them behind a guard with `accept`. */
export function withAuth(auth: Auth | undefined, given: unknown[]): unknown[] {
  if (!auth) return given
  const [context, ...rest] = given
  return [typeof context === 'object' ? { ...context, auth } : { auth }, ...rest]
}

/** Sets `locals.idpAuth` to whom a guard with `accept` has accepted. Returns the result of the guard. */
export function toLocals<Result extends ApiGuardResult>(
  { locals }: { readonly locals: object },
  result: Result,
): Result {
  if (result.auth) Reflect.set(locals, 'idpAuth', result.auth)
  return result
}
