// Production builds of the Next.js applications in `servers/next`, one for each product.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const bench = fileURLToPath(new URL('..', import.meta.url))
const sources = join(bench, 'servers/next')
const next = join(bench, 'node_modules/next/dist/bin/next')

/** Digest of everything that a build depends on: the application, the versions of packages, and the built library. */
function digest() {
  const hash = createHash('sha256').update(readFileSync(join(bench, 'package-lock.json')))
  for (const folder of [sources, join(bench, 'node_modules/idp-client/dist')]) {
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    )
    const paths = files.map((entry) => join(entry.parentPath, entry.name)).sort()
    for (const path of paths) hash.update(path.slice(bench.length)).update(readFileSync(path))
  }
  return hash.digest('hex')
}

/** Builds the application of a product unless a build of the same inputs exists, and returns its folder. */
export function buildNextApp(product) {
  const folder = join(bench, '.cache', `next-${product.replaceAll(' ', '-')}`)
  const stamp = join(folder, 'inputs.txt')
  const inputs = digest()
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === inputs) return folder
  console.error(`bench: building the Next.js application of ${product}`)
  rmSync(folder, { recursive: true, force: true })
  cpSync(sources, folder, { recursive: true })
  copyFileSync(join(sources, 'products', `${product.replaceAll(' ', '-')}.js`), join(folder, 'product.js'))
  const { status, stderr, stdout } = spawnSync(process.execPath, [next, 'build', '--turbopack'], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' },
  })
  if (status !== 0) throw new Error(`bench: next build failed\n${stdout}${stderr}`)
  writeFileSync(stamp, inputs)
  return folder
}

/** The program that serves a built application. */
export const toNextProgram = (folder) => ({
  cwd: folder,
  args: (port) => [next, 'start', '-H', '127.0.0.1', '-p', String(port)],
})
