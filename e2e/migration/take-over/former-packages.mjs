import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { transform } from 'esbuild'
import { fromRoot, must } from '../../../tools/lib/run.mjs'

/** Kept between runs. Next.js, React and Express are those of the repository, in a folder above. */
const folder = fromRoot('.cache/former')

const before = (name, path) => fromRoot(`examples/migration/${name}/before/${path}`)

/** The version of a package that the application before a migration uses. */
function pinned(name, dependency) {
  const { dependencies } = JSON.parse(readFileSync(before(name, 'package.json'), 'utf8'))
  return dependencies[dependency]
}

const versions = () => ({
  'nextjs-auth0-v4': `npm:@auth0/nextjs-auth0@${pinned('nextjs-auth0-v4', '@auth0/nextjs-auth0')}`,
  'nextjs-auth0-v3': `npm:@auth0/nextjs-auth0@${pinned('nextjs-auth0-v3', '@auth0/nextjs-auth0')}`,
  'next-auth': pinned('next-auth-v4', 'next-auth'),
  'express-openid-connect': pinned('express-openid-connect', 'express-openid-connect'),
})

async function install() {
  const manifest = JSON.stringify({ private: true, type: 'module', dependencies: versions() }, null, 2)
  const path = join(folder, 'package.json')
  const lock = join(folder, 'node_modules/.package-lock.json')
  if (existsSync(lock) && readFileSync(path, 'utf8') === manifest) return
  mkdirSync(folder, { recursive: true })
  writeFileSync(path, manifest)
  await must('npm', ['install', '--legacy-peer-deps', '--omit=optional', '--ignore-scripts'], { cwd: folder })
}

async function compile(source, target) {
  const { code } = await transform(readFileSync(source, 'utf8'), { loader: 'ts' })
  writeFileSync(join(folder, target), code)
}

/** Installs the former packages, and returns the folder of the programs that use them, one per library. */
export async function prepareFormerPackages() {
  await install()
  cpSync(fromRoot('e2e/migration/former'), folder, { recursive: true })
  await compile(before('express-openid-connect', 'server.ts'), 'express-openid-connect.mjs')
  await compile(before('next-auth-v4', 'lib/auth-options.ts'), 'auth-options.mjs')
  return folder
}
