import type { Auth } from '../../guards/auth.ts'
import type { ApiGuardResult } from '../../guards/guards.ts'

/**
 * Returns an object that has `auth` beside the properties of another one, which belongs to the host and stays as it is. An object
 * of a class, such as the server of Bun, has private members: its methods get the object itself.
 */
function addAuth(context: unknown, auth: Auth): object {
  if (typeof context !== 'object' || context === null) return { auth }
  if (Object.getPrototypeOf(context) === Object.prototype) return { ...context, auth }
  return new Proxy(context, {
    get(target, name) {
      if (name === 'auth') return auth
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
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
