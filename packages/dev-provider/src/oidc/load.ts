/** The module `oidc-provider`, as a value that can be passed on. */
export type OidcModule = typeof import('oidc-provider')

let silenced = 0
let original: Pick<Console, 'warn' | 'info'> | undefined

/**
 * Runs the work without the notices that oidc-provider prints when it is loaded and constructed (quick-start
 * hints, the Node.js version). They speak to operators of a real provider and would drown the output of tests.
 */
export async function withoutNotices<T>(work: () => T | Promise<T>): Promise<T> {
  original ??= { warn: console.warn, info: console.info }
  const saved = original
  silenced += 1
  for (const level of ['warn', 'info'] as const) {
    console[level] = (...values: unknown[]): void => {
      if (!String(values[0]).includes('oidc-provider ')) saved[level](...values)
    }
  }
  try {
    return await work()
  } finally {
    // Several providers may start at once: the last one to finish restores the console.
    silenced -= 1
    if (silenced === 0) {
      Object.assign(console, saved)
      original = undefined
    }
  }
}

/** oidc-provider, loaded at first use: the command line prints `--help` without it. */
export function loadOidcProvider(): Promise<OidcModule> {
  return withoutNotices(() => import('oidc-provider'))
}
