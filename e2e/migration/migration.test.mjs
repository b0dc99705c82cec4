// The project `migration` (npm test -- migration, or node tools/test-project.mjs migration [name... | --before]): builds and visits the
// applications of the migration guides, outside the repository. `npm run test:migration` includes those before the migration, with
// the other library, each installed from its own package.json.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { startDevProvider } from '../../packages/dev-provider/dist/index.js'
import { freePort } from '../../tools/lib/ports.mjs'
import { fromRoot, must, runNode } from '../../tools/lib/run.mjs'
import { running } from '../../tools/lib/server-process.mjs'
import { pack } from '../../tools/pack.mjs'
import { Browser } from '../support/app-visit.mjs'
import { selectNames, testApplication } from '../support/applications.mjs'
import { contrasts } from './contrasts.mjs'
import { migrations } from './migrations.mjs'
import { until } from './take-over/until.mjs'
import { User } from './take-over/user.mjs'

const isBefore = process.env.BEFORE === '1'
const names = selectNames(Object.keys(migrations))
const home = mkdtempSync(join(tmpdir(), 'idp-migration-'))
let tarball

beforeAll(async () => {
  tarball = await pack('packages/idp-client', home)
  if (!isBefore) await installOnce()
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

/** A user with a claim that no standard names. */
const carol = { name: 'carol', claims: { name: 'Carol', groups: ['staff'] } }

/** The migrations that the command knows, and the names of their codemods. */
const codemods = {
  'nextjs-auth0-v4': 'nextjs-auth0',
  'express-openid-connect': 'express-openid-connect',
  'next-auth-v4': 'next-auth',
}

const quiet = { NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: undefined }

const source = (name, side) => fromRoot(`examples/migration/${name}/${side}`)

/** One installation for all applications after the migration: of several versions of a package the newest. */
async function installOnce() {
  const manifest = { private: true, dependencies: {}, devDependencies: {} }
  for (const name of names) {
    const { dependencies, devDependencies } = readManifest(source(name, 'after'))
    takeNewest(manifest.dependencies, dependencies)
    takeNewest(manifest.devDependencies, devDependencies)
  }
  await install(home, manifest)
}

function takeNewest(all, more) {
  const newer = new Intl.Collator('en', { numeric: true })
  for (const [name, version] of Object.entries(more))
    if (all[name] === undefined || newer.compare(version, all[name]) > 0) all[name] = version
}

const readManifest = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

async function install(folder, manifest) {
  const { dependencies } = manifest
  if ('idp-client' in dependencies) dependencies['idp-client'] = `file:${tarball}`
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest, null, 2))
  await must('npm', ['install'], { cwd: folder })
}

/** Describes the server of an application that has been built. */
async function toServer({ name, side, folder, root }, provider) {
  const application = migrations[name][side]
  const base = `http://127.0.0.1:${await freePort()}`
  const [program, ...args] = application.start
  return {
    folder,
    base,
    args: [program.startsWith('node_modules/') ? join(root, program) : program, ...args],
    env: {
      ...quiet,
      ...application.public,
      ...application.env(provider, base),
      NODE_EXTRA_CA_CERTS: provider.env.NODE_EXTRA_CA_CERTS,
      APP_BASE_URL: base,
      PORT: new URL(base).port,
    },
  }
}

async function visit({ name, side, folder, root }) {
  const application = migrations[name][side]
  const provider = await startDevProvider({ https: true, users: [carol] })
  const server = await toServer({ name, side, folder, root }, provider)
  const { base } = server
  const asked = {
    side,
    provider,
    browser: () => new Browser(base),
    async signIn(user = 'alice') {
      const browser = new Browser(base)
      const { location } = await provider.login(await application.login(browser), { user })
      const { pathname, search } = new URL(location)
      const back = await browser.request(pathname + search)
      equal(Math.floor(back.status / 100), 3, `callback responds ${back.status}: ${back.text.slice(0, 200)}`)
      return browser
    },
  }
  try {
    await running(server, async () => {
      await expectSession(asked, migrations[name].apis)
      for (const contrast of contrasts[name])
        deepEqual(await contrast.ask(asked), contrast[side], `${contrast.row} (${side})`)
    })
  } finally {
    await provider.stop()
  }
}

/** Every application of the guides has the same page and the same API behind a login. */
async function expectSession({ browser, signIn }, apis = []) {
  equal((await browser().request('/api/orders')).status, 401, 'the API without a session')
  const page = await browser().request('/orders')
  equal(Math.floor(page.status / 100), 3, 'the page without a session')
  const alice = await signIn()
  equal((await alice.request('/orders')).text.includes('signed in as dev|alice'), true, 'the page')
  const { status, text } = await alice.request('/api/orders')
  equal(status, 200, `the API: ${text.slice(0, 200)}`)
  equal(JSON.parse(text).sub, 'dev|alice', 'the API')
  for (const api of apis) equal((await alice.request(api)).status, 200, api)
}

const placeOf = (name, side) => {
  const folder = join(home, name, side)
  return { name, side, folder, root: isBefore ? folder : home }
}

/** The date in the sources is that of the day on which they were written. */
function renewDate(folder) {
  for (const path of ['lib/idp.ts', 'server.ts'].map((path) => join(folder, path)).filter(existsSync))
    writeFileSync(path, readFileSync(path, 'utf8').replace(/until: '[\d-]+'/, `until: '${until}'`))
}

/** The steps with the application on one side of a migration, as titles with what they run. */
function stepsOf(name, side) {
  const application = migrations[name][side]
  const { folder, root } = placeOf(name, side)
  return [
    [
      'installs',
      async () => {
        mkdirSync(folder, { recursive: true })
        cpSync(source(name, side), folder, { recursive: true })
        renewDate(folder)
        if (isBefore) await install(folder, readManifest(folder))
        else if (application.config) writeFileSync(join(folder, 'next.config.mjs'), application.config)
      },
    ],
    [
      'builds, types included',
      () => {
        const [program, ...args] = application.build
        const env = { ...quiet, ...application.public }
        return must(process.execPath, [join(root, program), ...args], { cwd: folder, env })
      },
    ],
    ['a user logs in, and every difference of the guide is there', () => visit(placeOf(name, side))],
  ]
}

/** A user logs in before the migration, and is still signed in after it: two servers on two ports, with the same cookies. */
async function takeOver(name) {
  const provider = await startDevProvider({ https: true })
  const before = await toServer(placeOf(name, 'before'), provider)
  const after = await toServer(placeOf(name, 'after'), provider)
  after.env[migrations[name].formerSecret] = provider.env.IDP_SECRET
  after.env.IDP_SECRET = randomBytes(32).toString('hex')
  try {
    await running(before, () =>
      running(after, async () => {
        const user = new User(before.base)
        const { location } = await provider.login(await migrations[name].before.login(user), {
          user: 'alice',
        })
        const { pathname, search } = new URL(location)
        await user.visit(pathname + search)
        equal((await user.request('/api/orders')).status, 200, 'the login before the migration')
        const { status: visited, location: elsewhere, text } = await user.visit(`${after.base}/orders`)
        equal(visited, 200, `the page after the migration leads to ${elsewhere}`)
        equal(text.includes('signed in as dev|alice'), true, text.slice(0, 300))
        equal((await user.request('/api/orders')).status, 401, 'the application before the migration')
        const { status } = await user.request(`${after.base}/api/orders`)
        equal(status, 200, 'the application after the migration')
      }),
    )
  } finally {
    await provider.stop()
  }
}

for (const name of names) {
  if (!isBefore) testApplication(`${name}, after`, stepsOf(name, 'after'))
  else
    testApplication(name, [
      ...['before', 'after'].flatMap((side) =>
        stepsOf(name, side).map(([title, run]) => [`${side}: ${title}`, run]),
      ),
      ...(migrations[name].formerSecret ? [['sessions of before are taken over', () => takeOver(name)]] : []),
    ])
}

/** The paths of the files in which the compiler finds something. */
async function filesWithErrors(folder) {
  const compiler = join(home, 'node_modules/typescript/bin/tsc')
  const { output } = await runNode([compiler, '-p', folder, '--noEmit', '--pretty', 'false'], { cwd: folder })
  return new Set([...output.matchAll(/^(\S+?)\(\d+,\d+\): error/gm)].map((match) => match[1]))
}

/** Makes the listed changes as the guide does: a listed file becomes that of the application after the migration. */
function finishByHand(name, folder, listed) {
  for (const path of listed) {
    const finished = join(source(name, 'after'), path)
    if (existsSync(finished)) cpSync(finished, join(folder, path))
    else rmSync(join(folder, path))
  }
}

/** The codemod of the packed command, on the application before the migration: what it leaves undone it has listed. */
function declareCodemod(name) {
  const folder = join(home, name, 'codemod')
  const command = join(home, 'node_modules/idp-client/dist/cli.js')
  let listed = new Set()
  const steps = [
    [
      'rewrites the application',
      async () => {
        cpSync(source(name, 'before'), folder, { recursive: true })
        const output = await must(process.execPath, [command, 'codemod', codemods[name], folder])
        const byHand = output.split('To do by hand:')[1] ?? ''
        listed = new Set([...byHand.matchAll(/(?<=^ {2}|, )(\S+?):\d+(?=[, ])/gm)].map((match) => match[1]))
      },
    ],
    [
      'lists every file in which the compiler then finds something',
      async () => {
        const files = await filesWithErrors(folder)
        ok(files.size > 0, 'nothing was left to do')
        for (const file of files) ok(listed.has(file), `${file} is not listed`)
      },
    ],
    [
      'compiles once the listed files are those of the guide',
      async () => {
        finishByHand(name, folder, listed)
        deepEqual([...(await filesWithErrors(folder))], [])
      },
    ],
  ]
  testApplication(`${name}, codemod`, steps)
}

if (!isBefore) for (const name of names.filter((each) => each in codemods)) declareCodemod(name)
