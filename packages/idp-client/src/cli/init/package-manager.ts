import { dirname } from 'node:path'
import type { Application } from './application.ts'
import { readNames } from './application.ts'

export type PackageManager = 'npm' | 'pnpm' | 'yarn' | 'bun'

const lockfiles: ReadonlyMap<string, PackageManager> = new Map([
  ['package-lock.json', 'npm'],
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
])

/** The package manager of an application, by the nearest lockfile, in a workspace that of a folder above. */
export async function findPackageManager({ folder, manifest }: Application): Promise<PackageManager> {
  const named = /^(npm|pnpm|yarn|bun)@/.exec(String(manifest?.content['packageManager'] ?? ''))?.[1]
  const known = [...lockfiles.values()].find((name) => name === named)
  if (known) return known
  for (let each = folder; ; each = dirname(each)) {
    const names = await readNames(each, '.')
    const [found] = names.flatMap((name) => lockfiles.get(name) ?? [])
    if (found) return found
    if (names.includes('.git') || each === dirname(each)) return 'npm'
  }
}

/**
 * Returns a command of a guide for a script of `package.json`, which finds the programs of installed packages by their names:
 * `npx astro dev` is `astro dev`, `npm run dev` is `pnpm run dev`. What sets variables in front of it is left out.
 */
export function toScript(command: string, manager: PackageManager): string {
  return command
    .replace(/^(?:[A-Z_]+=\S+ )+/, '')
    .replace(/^npx /, '')
    .replace(/^npm run (\S+)(?: --(?= ))?/, manager === 'npm' ? '$&' : `${manager} run $1`)
}
