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
