/** The part of `@sveltejs/kit` that `idp-client/sveltekit` imports; applications have the package itself. */
declare module '@sveltejs/kit' {
  export function isRedirect(
    thrown: unknown,
  ): thrown is { readonly status: number; readonly location: string }
  export function error(status: number, message: string): never
  export function redirect(status: number, location: string | URL): never
}
