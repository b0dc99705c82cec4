const codes: Readonly<Record<number, string>> = { 401: 'UNAUTHORIZED', 403: 'FORBIDDEN' }

/** Stands for `ActionError` of `astro:actions`, a module of Astro's bundler. */
export class ActionError extends Error {
  readonly code: string

  constructor({ code, message }: { readonly code: string; readonly message: string }) {
    super(message)
    this.code = code
  }

  static statusToCode(status: number): string {
    return codes[status] ?? 'INTERNAL_SERVER_ERROR'
  }
}
