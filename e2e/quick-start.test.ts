import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { npmSettings } from '../tools/lib/run.mjs'
import { startChromium } from './fixtures/support/chromium.ts'
import { environment, freePort } from './fixtures/support/next-application.ts'
import { enterAs } from './support/browser-profile.ts'
import { writeFonts } from './support/next-fonts.mjs'
import type { Step } from './support/walkthrough.ts'
import { fromRoot, parseSteps, responds, stepsBelow, until, Walkthrough } from './support/walkthrough.ts'

const QUICK_START = 'docs/guides/quick-start.md'
const CACHE_COMPONENTS = 'docs/guides/cache-components.md'

/** In place of the newest versions, so that no release elsewhere breaks a test here. */
const VERSIONS = [
  ['create-next-app@latest', 'create-next-app@16.4.3'],
  ['install express ', 'install express@5.3.0 '],
  ['install srvx ', 'install srvx@1.0.8 '],
  ['--save-dev tsx ', '--save-dev tsx@4.23.15 '],
  ['@types/express ', '@types/express@5.0.6 '],
  ['@types/node ', '@types/node@20.19.43 '],
] as const

/** They name pages that the test has removed. */
const GENERATED_TYPES = ['.next/dev/types', '.next/types']

interface Site {
  readonly url: string
  readonly walkthrough: Walkthrough
}

const walkthroughs: Walkthrough[] = []
let home: string
let browser: Browser
let next: Site
let express: Site
let web: Site

/** The starting point of every section: a folder with both tarballs. */
function folderWithTarballs(name: string): string {
  const folder = join(home, name)
  mkdirSync(folder)
  for (const file of readdirSync(home).filter((entry) => entry.endsWith('.tgz'))) {
    copyFileSync(join(home, file), join(folder, file))
  }
  return folder
}

function variables(): Record<string, string> {
  return environment({
    ...writeFonts(home),
    // create-next-app stores its settings there, and --yes uses them again.
    XDG_CONFIG_HOME: join(home, 'config'),
    ...npmSettings,
  }) as Record<string, string>
}

/** Follows a section of the quick start until its application responds. */
async function follow(name: string, heading: string): Promise<Site> {
  const [port, providerPort] = [await freePort(), await freePort()]
  const walkthrough = new Walkthrough({
    folder: folderWithTarballs(name),
    env: variables(),
    replacements: [
      ...VERSIONS,
      ['idp-dev-provider --app', `idp-dev-provider --port ${providerPort} --app`],
      ['npm run dev', `npm run dev -- -H localhost -p ${port}`],
      [/\b3000\b/g, String(port)],
    ],
  })
  walkthroughs.push(walkthrough)
  await walkthrough.follow(stepsBelow(QUICK_START, heading))
  const url = `http://localhost:${port}`
  await until(() => responds(url))
  return { url, walkthrough }
}

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'idp-quick-start-'))
  browser = await startChromium()
  const getting = stepsBelow(QUICK_START, 'Getting the packages')
  expect(getting).toEqual([{ kind: 'run', commands: 'npm ci\nnpm run build\nnode tools/pack.mjs ..' }])
  const clone = new Walkthrough({ folder: fromRoot('.'), env: variables(), replacements: [['..', home]] })
  await clone.run('node tools/pack.mjs ..')
  ;[next, express, web] = await Promise.all([
    follow('next', 'Next.js 16'),
    follow('express', 'Express'),
    follow('web', 'Any host with Web Request and Response'),
  ])
}, 600_000)

afterAll(async () => {
  await browser?.close()
  await Promise.all(walkthroughs.map((walkthrough) => walkthrough.stop()))
  rmSync(home, { recursive: true, force: true })
})

/** Errors on the console of a page, and uncaught ones. */
function collectErrors(page: Page): string[] {
  const errors: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text())
  })
  page.on('pageerror', (error) => errors.push(error.message))
  return errors
}

async function newPage(): Promise<Page> {
  return (await browser.newContext()).newPage()
}

test('the next command runs in the folder of the last one, whatever that wrote to standard error at its end', async () => {
  const walkthrough = new Walkthrough({ folder: home, env: variables(), replacements: [] })
  await walkthrough.run("mkdir late && cd late && trap 'echo late >&2' EXIT")
  expect(walkthrough.folder).toBe(join(home, 'late'))
})

describe('an unmodified create-next-app', () => {
  let page: Page
  let errors: string[]

  beforeAll(async () => {
    page = await newPage()
    errors = collectErrors(page)
  })

  async function show(path: string, text: string | RegExp): Promise<void> {
    await page.goto(next.url + path)
    await page.getByText(text).waitFor()
  }

  /** Writes a page beside those of the guides, and opens it once the development server knows it. */
  async function addPage(path: string, lines: readonly string[]): Promise<void> {
    next.walkthrough.write(`app${path}/page.tsx`, `${lines.join('\n')}\n`)
    await until(async () => (await fetch(next.url + path)).status !== 404)
    errors.length = 0
    await page.goto(next.url + path)
  }

  async function picture(name: string): Promise<void> {
    await page.screenshot({ path: fromRoot(`.cache/quick-start/${name}.png`) })
  }

  test('[J1] has Cache Components on', () => {
    const config = readFileSync(join(next.walkthrough.folder, 'next.config.ts'), 'utf8')
    expect(config).toContain('cacheComponents: true')
    expect(config).toContain('partialPrefetching: true')
  })

  test('[J1] shows the login link, and nothing on the consoles', async () => {
    await show('/', 'Log in')
    await picture('signed-out')
    expect(errors).toEqual([])
  })

  test('[O6] shows links that can be told from text', async () => {
    const link = page.getByRole('link', { name: 'Log in' })
    expect(await link.evaluate((element) => getComputedStyle(element).textDecorationLine)).toBe('underline')
  })

  test('[J2] shows the user after the login, and nothing on the consoles', async () => {
    await page.getByText('Log in').click()
    await enterAs(page, 'alice')
    await page.getByText('Hello Alice Anderson').waitFor()
    await page.reload()
    await page.getByText('Hello Alice Anderson').waitFor()
    await picture('signed-in')
    expect(errors).toEqual([])
  })

  test('[J2] runs every other page of the guides', async () => {
    await next.walkthrough.follow(stepsBelow(QUICK_START, 'Client components'))
    await next.walkthrough.follow(pagesAboutCacheComponents())
    await until(async () => (await fetch(`${next.url}/notes`)).status !== 404)
    await show('/profile', 'Hello Alice Anderson')
    await show('/members', 'Hello Alice Anderson')
    await show('/account', 'Signed in as Alice Anderson')
    await show('/settings', 'Settings of Alice Anderson')
    await show('/notes', 'first note of dev|alice')
    expect(errors).toEqual([])
  })

  // The mistakes also prove that the silence before them is not the test's own.
  test('[J2] reports what is outside Suspense, and only that', async () => {
    await addPage('/outside', [
      "import { idp } from '@/lib/idp'",
      'export default async function Page() {',
      '  return <p>{(await idp.getSession())?.user.name}</p>',
      '}',
    ])
    await until(() => errors.length > 0)
    const expected = expect.stringMatching(/Route "\/outside".*<Suspense>/s)
    expect(errors).toEqual(errors.map(() => expected))
    const reported = next.walkthrough.output().match(/^.*(?:Error: |⨯ ).*$/gm) ?? []
    expect(reported).not.toEqual([])
    expect(reported.filter((line) => !line.includes('Route "/outside"'))).toEqual([])
  })

  test('[J2] rejects a session in a private cache, which prefetches run and no cookie leaves', async () => {
    await addPage('/private', [
      "import { Suspense } from 'react'",
      "import { idp } from '@/lib/idp'",
      'async function name() {',
      "  'use cache: private'",
      '  return (await idp.getSession())?.user.name',
      '}',
      'const Name = async () => <p>{await name()}</p>',
      'export default function Page() {',
      '  return <Suspense fallback="Loading"><Name /></Suspense>',
      '}',
    ])
    await until(() => errors.some((error) => /connection\(\).*"use cache: private"/s.test(error)))
    expect(await page.content()).not.toContain('Alice')
  })

  test('[J4] names useUser where a client component imports the client', async () => {
    await addPage('/mistake', [
      "'use client'",
      "import { idp } from '@/lib/idp'",
      'export default function Page() {',
      '  return <p>{idp.basePath}</p>',
      '}',
    ])
    await until(() => errors.some((error) => error.includes('in client components call useUser')))
  })

  test('[J1] builds with Cache Components', async () => {
    const { walkthrough } = next
    // A page of the development server reloads itself as soon as that is back.
    await page.goto('about:blank')
    await walkthrough.stop(1)
    for (const path of ['app/outside', 'app/private', 'app/mistake', ...GENERATED_TYPES])
      walkthrough.remove(path)
    await walkthrough.follow(routeHandlersOfTheQuickStart())
    await walkthrough.follow(stepsBelow(QUICK_START, 'Next.js, Pages Router'))
    const output = await walkthrough.run('npm run build')
    expect(output).toMatch(/◐ \/$/m)
    expect(output).not.toMatch(/Error|⨯/)
  })

  test('[J1] builds and runs without Cache Components, the Pages Router beside it', async () => {
    const { walkthrough, url } = next
    for (const path of ['app/settings', 'app/notes', ...GENERATED_TYPES]) walkthrough.remove(path)
    const config = readFileSync(join(walkthrough.folder, 'next.config.ts'), 'utf8')
    walkthrough.write(
      'next.config.ts',
      config.replace(/^\s*(?:cacheComponents|partialPrefetching): true,\n/gm, ''),
    )
    const output = await walkthrough.run('npm run build')
    expect(output).toMatch(/ƒ \/$/m)
    expect(output).not.toMatch(/Error|⨯/)
    await walkthrough.follow([{ kind: 'run', commands: 'npm run dev' }])
    await until(() => responds(url))
    errors.length = 0
    await show('/', 'Hello Alice Anderson')
    await show('/account', 'Signed in as Alice Anderson')
    await show('/members', 'Hello Alice Anderson')
    await show('/legacy/account', 'Hello Alice Anderson')
    await show('/api/me', /dev\|alice/)
    await show('/api/legacy/me', /dev\|alice/)
    await page.context().clearCookies()
    await show('/', 'Log in')
    expect(errors).toEqual([])
  })
})

/** The paths of the Pages Router must differ from them. */
function routeHandlersOfTheQuickStart(): Step[] {
  const steps = stepsBelow(QUICK_START, 'Next.js 16: a protected page, an API and a form')
  return steps.filter((step) => step.kind === 'file' && step.path.startsWith('app/api/'))
}

/** Without the configuration, which the template has already, and the first page, which it shares with the quick start. */
function pagesAboutCacheComponents(): Step[] {
  const steps = parseSteps(readFileSync(fromRoot(CACHE_COMPONENTS), 'utf8'))
  return steps.filter((step) => step.kind === 'file' && /^app\/\w+\//.test(step.path))
}

describe.each([
  { name: 'Express', site: () => express },
  { name: 'a Web host', site: () => web },
])('$name', ({ site }) => {
  test('[J5] works as printed: a guarded page redirects to the login and back', async () => {
    const { url } = site()
    const page = await newPage()
    // Browsers ask every site for an icon, which the sections leave out.
    await page.route('**/favicon.ico', (route) => route.fulfill({ status: 204 }))
    const errors = collectErrors(page)
    await page.goto(url)
    await page.getByText('Log in').waitFor()
    await page.goto(`${url}/account`)
    await enterAs(page, 'alice')
    await page.waitForURL(`${url}/account`)
    await page.getByText('alice@example.test').waitFor()
    await page.goto(url)
    await page.getByText('Log out').click()
    await page.getByText('Log in').waitFor()
    expect(errors).toEqual([])
    await page.context().close()
  })
})
