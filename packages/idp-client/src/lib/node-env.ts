// Hosts without Node types (and edge runtimes without the object at all) get by with this.
declare const process: { readonly env: { readonly NODE_ENV?: string; readonly SVELTEKIT_FORK?: string } }

/** Returns the value of a variable. Without `process`, or if reading it throws (it may require a permission), it has no value. */
export function readVariable(read: () => string | undefined): string | undefined {
  try {
    return read()?.trim() || undefined
  } catch {
    return undefined
  }
}

/**
 * Returns `NODE_ENV` as it is at run time, unless a bundler inserted `production`. No other inserted value counts: by default
 * esbuild inserts `development`, which would make a deployed server trust forwarded headers.
 */
export function readNodeEnv(): string | undefined {
  const global = globalThis as { readonly process?: typeof process }
  const inserted = readVariable(() => process.env.NODE_ENV)
  return inserted === 'production' ? inserted : readVariable(() => global.process?.env.NODE_ENV)
}

/**
 * Returns whether texts for developers may reach a browser: `NODE_ENV` is `development` or `test`. Without the variable
 * this may be a deployment with real users.
 */
export function isDevelopment(nodeEnv: string | undefined): boolean {
  return nodeEnv === 'development' || nodeEnv === 'test'
}

/** Returns whether this is the worker in which the build of SvelteKit renders pages and follows their links. */
export function isSvelteKitBuild(): boolean {
  return readVariable(() => process.env.SVELTEKIT_FORK) !== undefined
}
