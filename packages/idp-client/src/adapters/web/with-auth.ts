import type { Auth } from '../../guards/auth.ts'
import type { ApiGuardResult } from '../../guards/guards.ts'

/** Returns an object that has `auth` beside the properties of another one, which may belong to the host and stays as it is. */
function addAuth(context: unknown, auth: Auth): object {
  if (typeof context !== 'object' || context === null) return { auth }
  const isPlain = Object.getPrototypeOf(context) === Object.prototype
  return isPlain ? { ...context, auth } : Object.create(context, { auth: { value: auth, enumerable: true } })
}

/** Returns the further arguments of a handler, with `auth` in the first of them behind a guard with `accept`. */
export function withAuth(auth: Auth | undefined, given: unknown[]): unknown[] {
  if (!auth) return given
  const [context, ...rest] = given
  return [addAuth(context, auth), ...rest]
}

/** Sets `locals.idpAuth` to the caller that a guard with `accept` has let pass. Returns the result of the guard. */
export function toLocals<Result extends ApiGuardResult>(
  { locals }: { readonly locals: object },
  result: Result,
): Result {
  if (result.auth) Reflect.set(locals, 'idpAuth', result.auth)
  return result
}
