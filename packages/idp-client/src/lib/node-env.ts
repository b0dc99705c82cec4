// Hosts without Node types (and edge runtimes without the object at all) get by with this.
declare const process: { readonly env: { readonly NODE_ENV?: string } }

/** Returns `NODE_ENV`, which bundlers may insert; undefined without `process`, or where it may not be read. */
export function readNodeEnv(): string | undefined {
  try {
    return process.env.NODE_ENV?.trim() || undefined
  } catch {
    return undefined
  }
}

/**
 * Returns whether texts for developers may reach a browser: `NODE_ENV` is `development` or `test`. Without the variable
 * this may be a deployment with real users.
 */
export function isDevelopment(nodeEnv: string | undefined): boolean {
  return nodeEnv === 'development' || nodeEnv === 'test'
}
