/** The object that SvelteKit throws to redirect. */
export class Redirect {
  readonly status: number
  readonly location: string

  constructor(status: number, location: string) {
    this.status = status
    this.location = location
  }
}

/** Stands for `isRedirect` of `@sveltejs/kit`. */
export function isRedirect(thrown: unknown): thrown is Redirect {
  return thrown instanceof Redirect
}

/** Stands for `redirect` of `@sveltejs/kit`, which only the example and the contract application install. */
export function redirect(status: number, location: string | URL): never {
  throw new Redirect(status, String(location))
}

/** The object that SvelteKit throws to show its error page. */
export class HttpError {
  readonly status: number
  readonly body: { readonly message: string }

  constructor(status: number, message: string) {
    this.status = status
    this.body = { message }
  }
}

/** Stands for `error` of `@sveltejs/kit`. */
export function error(status: number, message: string): never {
  throw new HttpError(status, message)
}
