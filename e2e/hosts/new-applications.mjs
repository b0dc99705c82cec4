// Installs the packed library in new applications. npm also resolves the peers of optional peers, and refuses an installation
// in which those conflict with packages of the application. It only writes the lockfile: nothing is downloaded.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hosts } from '../../tools/hosts.mjs'
import { readJson } from '../../tools/lib/files.mjs'
import { must } from '../../tools/lib/run.mjs'
import { dependencies as ownDependencies } from '../../tools/rules/entries.mjs'
import { cache, readManifest } from './host.mjs'

/** Packages of starters that are not hosts, and old versions of packages beside ours. */
const packages = {
  'astro-5-react-18': { '@astrojs/react': '4.4.2', astro: '5.18.2', react: '18.3.1', 'react-dom': '18.3.1' },
  'cloudflare-hono': { hono: '4.13.19', wrangler: '4.164.0' },
  'express-4-react-17': { express: '4.18.3', react: '17.0.2', 'react-dom': '17.0.2' },
  'fastify-4-vite-5': { '@fastify/cookie': '9.4.0', fastify: '4.29.1', vite: '5.4.21' },
  'nest-starter': {
    '@nestjs/cli': '11.0.13',
    '@nestjs/common': '11.2.6',
    '@nestjs/core': '11.2.6',
    '@nestjs/platform-express': '11.2.6',
    '@nestjs/testing': '11.2.6',
    jest: '29.7.0',
    'reflect-metadata': '0.2.2',
    rxjs: '7.8.2',
    'ts-jest': '29.4.0',
  },
  'next-15-react-router': {
    next: '15.5.28',
    react: '19.2.0',
    'react-dom': '19.2.0',
    'react-router': '7.9.6',
  },
  'react-router-7-vite-5': {
    '@react-router/dev': '7.9.6',
    '@react-router/node': '7.9.6',
    '@react-router/serve': '7.9.6',
    react: '18.3.1',
    'react-dom': '18.3.1',
    'react-router': '7.9.6',
    vite: '5.4.21',
  },
  'solid-vite-5': { 'solid-js': '1.9.9', vite: '5.4.21', 'vite-plugin-solid': '2.9.1' },
  'sveltekit-2-svelte-4': {
    '@sveltejs/adapter-node': '5.2.12',
    '@sveltejs/kit': '2.20.8',
    '@sveltejs/vite-plugin-svelte': '3.1.2',
    svelte: '4.2.19',
    vite: '5.4.21',
  },
  'vue-2': { '@vitejs/plugin-vue2': '2.3.4', vite: '5.4.21', vue: '2.7.16' },
  'vue-3': { '@vitejs/plugin-vue': '6.0.1', vite: '7.3.8', vue: '3.5.40', 'vue-router': '4.5.1' },
}

/** Manifests of applications that are not hosts. */
const manifests = Object.fromEntries([
  ...Object.entries(packages).map(([name, dependencies]) => [name, { dependencies }]),
  ...['next-14', 'next-15', 'next-16'].map((name) => [name, readJson(`e2e/consumers/${name}/package.json`)]),
])

/** Applications that are not hosts. */
export const furtherApplications = Object.keys(manifests)

/** Those of `npm test`, which take seconds. The build tool of React Router has many peers that others can conflict with. */
export const quickApplications = ['react-router', 'express-4', 'next-16']

/** Returns the names and versions of all packages that npm installs by the manifest of a folder. */
async function resolvePackages(folder, ...added) {
  await must('npm', ['install', '--package-lock-only', '--ignore-scripts', ...added], { cwd: folder })
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'))
  const entries = Object.entries(packages).filter(([path]) => path !== '')
  return new Set(entries.map(([path, { version }]) => `${path.split('node_modules/').at(-1)}@${version}`))
}

const toName = (installed) => installed.slice(0, installed.lastIndexOf('@'))

/** Throws unless the library is installed with its own dependencies, and nothing else is. */
export function assertOnlyOwn(before, after) {
  const expected = ['idp-client', ...ownDependencies]
  const names = new Set([...after].map(toName))
  const missing = expected.filter((name) => !names.has(name))
  if (missing.length > 0) throw new Error(`not installed: ${missing.join(', ')}`)
  const foreign = [...after].filter((each) => !before.has(each) && !expected.includes(toName(each)))
  if (foreign.length > 0) throw new Error(`also installed: ${foreign.join(', ')}`)
}

/**
 * Installs the library in an application with the manifest of a host, or one of `furtherApplications`, and again without a
 * lockfile unless the test is to be quick.
 */
export async function installInNewApplication(name, { quick, tarball }) {
  const folder = join(cache, 'new-applications', name)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const manifest = manifests[name] ?? readManifest(hosts[name])
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...manifest, private: true }))
  const before = await resolvePackages(folder)
  assertOnlyOwn(before, await resolvePackages(folder, tarball))
  if (quick) return
  rmSync(join(folder, 'package-lock.json'))
  assertOnlyOwn(before, await resolvePackages(folder))
}
