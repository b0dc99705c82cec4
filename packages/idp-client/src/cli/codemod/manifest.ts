import { version } from '../../lib/version.ts'

/**
 * Replaces the dependency, or removes it from a manifest that has this package already: `npm install idp-client` may have come
 * first, and npm reads only one of two entries with the same name.
 */
export function rewriteManifest(text: string, peer: string): string {
  const dependency = `"${peer}"\\s*:\\s*"[^"]*"`
  const isInstalled = /"idp-client"\s*:\s*"/.test(text)
  return isInstalled
    ? text.replace(new RegExp(`${dependency}\\s*,\\s*|,?\\s*${dependency}(?!\\s*,)`, 'g'), '')
    : text.replace(new RegExp(dependency, 'g'), `"idp-client": "^${version}"`)
}
