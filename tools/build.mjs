// npm run build [idp-client] [dev-provider] [--force]
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { packages } from './lib/build-plan.mjs'
import { bundle } from './lib/bundle.mjs'
import { declarations } from './lib/declarations.mjs'
import { filesBelow, readText } from './lib/files.mjs'
import { createModule } from './lib/init-data.mjs'
import { fromRoot, isMain } from './lib/run.mjs'

/**
 * Builds packages into their `dist` folders; one that has not changed since its last build is left alone, unless `force` is set.
 *
 * @param {{ only?: string[], force?: boolean }} [options]
 */
export async function build(options = {}) {
  const names = options.only?.length ? options.only : Object.keys(packages)
  const failures = []
  for (const name of names) {
    const plan = packages[name]
    if (plan === undefined) {
      throw new Error(`build: no package ${name}; known: ${Object.keys(packages).join(', ')}`)
    }
    await buildPackage(name, plan, options).catch((error) => failures.push(error))
  }
  if (failures.length > 0) throw new Error(failures.map((error) => error.message).join('\n'))
}

async function buildPackage(name, plan, options) {
  const hash = sourceHash(plan)
  const record = fromRoot(`node_modules/.cache/idp-build/${name}.json`)
  if (!options.force && isCurrent(record, hash, plan)) {
    console.log(`build: ${name} is up to date`)
    return
  }
  console.log(`build: ${name}`)
  const started = performance.now()
  const staging = fromRoot(`node_modules/.cache/idp-build/${name}-${process.pid}`)
  rmSync(staging, { recursive: true, force: true })
  mkdirSync(staging, { recursive: true })
  try {
    await declarations(plan, staging)
    const files = await bundle(plan)
    for (const file of files) write(join(staging, file.path), file.contents)
    // npm makes commands executable when it links them, before a workspace has built them.
    chmodSync(join(staging, 'cli.js'), 0o755)
    const target = fromRoot(`${plan.folder}/dist`)
    rmSync(target, { recursive: true, force: true })
    renameSync(staging, target)
    write(record, JSON.stringify({ hash, outputs: files.map((file) => file.path) }))
    console.log(`build: ${name} done, ${files.length} files, ${Math.round(performance.now() - started)} ms`)
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

function sourceHash(plan) {
  const hash = createHash('sha256')
  const inputs = [
    ...filesBelow(`${plan.folder}/src`, (path) => !/\.test\.tsx?$/.test(path)),
    ...plan.inputs,
    'tsconfig.base.json',
    'package-lock.json',
    ...filesBelow('tools', (path) =>
      /^tools\/(?:build|hosts|rules\/entries|lib\/(?:build-plan|bundle|declarations|init-data))\.mjs$/.test(
        path,
      ),
    ),
  ]
  for (const path of inputs) hash.update(`${path}\0`).update(readText(path)).update('\0')
  for (const name of plan.generated) hash.update(createModule(name))
  return hash.digest('hex')
}

function isCurrent(record, hash, plan) {
  if (!existsSync(record)) return false
  const last = JSON.parse(readFileSync(record, 'utf8'))
  return (
    last.hash === hash && last.outputs.every((path) => existsSync(fromRoot(`${plan.folder}/dist/${path}`)))
  )
}

function write(path, contents) {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, contents)
}

if (isMain(import.meta)) {
  const args = process.argv.slice(2)
  const options = {
    only: args.filter((argument) => !argument.startsWith('--')),
    force: args.includes('--force'),
  }
  await build(options).catch((error) => {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  })
}
