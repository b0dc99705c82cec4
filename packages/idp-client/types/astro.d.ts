/** The variables that Astro's bundler replaces when it builds an application. */
interface ImportMetaEnv {
  readonly BASE_URL?: string
}
interface ImportMeta {
  readonly env?: ImportMetaEnv
}
