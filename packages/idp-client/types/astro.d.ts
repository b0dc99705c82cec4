/** The variables that Astro's bundler replaces when it builds an application. */
interface ImportMetaEnv {
  readonly BASE_URL?: string
}
interface ImportMeta {
  readonly env?: ImportMetaEnv
}

/** The part of Astro's actions that `idp-client/astro` uses. */
declare module 'astro:actions' {
  export class ActionError extends Error {
    constructor(error: { readonly code: string; readonly message: string })
    static statusToCode(status: number): string
  }
}
