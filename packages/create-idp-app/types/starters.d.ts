// The build makes this module of the guides: tools/lib/init-data.mjs.
declare module '#starters' {
  interface Starter {
    readonly title: string
    /** The commands that the guide prints for a new application, which is called my-app. */
    readonly create: readonly string[]
    /** The version of Node.js that the guide was tested with, if the starter needs a newer one than the library. */
    readonly node: string | null
    readonly needsStarter: boolean
  }
  export const starters: Readonly<Record<string, Starter>>
  /** Names of the providers of `idp-client init`. */
  export const providers: readonly string[]
}
