import { expect, test } from 'vitest'
import { guides, initRuns, readGuide } from './lib/guides.mjs'
import { createInitData, createModule, createStarterData } from './lib/init-data.mjs'

const data = createInitData()

test.each(Object.keys(guides))('init has the files of the guide of %s, and nothing else', (name) => {
  const printed = readGuide(name).filter(({ path }) => path !== undefined)
  expect(data.guides[name].files.map(({ path, text }) => ({ path, text }))).toEqual(printed)
})

test.each(Object.keys(guides))('init installs what the guide of %s installs', (name) => {
  const words = readGuide(name)
    .filter(({ role }) => role === 'install')
    .flatMap(({ lines }) => lines.join(' ').split(' '))
  const packages = words.filter(
    (word) => /^(?:@\w|\w)/.test(word) && !/^(?:npm|bun|install|add|idp-)/.test(word),
  )
  expect(Object.keys(data.guides[name].dependencies).sort()).toEqual(
    packages.map((word) => word.replace(/(?<=.)@.*/, '')).sort(),
  )
})

test('init replaces files of the starters that come with the framework', () => {
  const replaced = (name) => data.guides[name].files.filter(({ starter }) => starter.length > 0)
  for (const name of Object.values(initRuns)) {
    const { needsStarter, packages, dependencies } = data.guides[name]
    const hasFramework = packages.some((each) => !(each in dependencies))
    expect(replaced(name).length > 0, name).toBe(needsStarter && hasFramework)
  }
})

test('older versions of Next.js have their own file in place of the proxy', () => {
  const paths = (name) => data.guides[name].files.map(({ path }) => path)
  expect(paths('next-15')).toEqual(['lib/idp.ts', 'app/page.tsx', 'middleware.ts'])
  expect(paths('next-14')).toEqual(['lib/idp.ts', 'app/page.tsx', 'app/auth/[...idp]/route.ts'])
  expect(paths('next-pages')).toEqual(expect.arrayContaining(['proxy.ts', 'pages/legacy/account.tsx']))
})

test('a new application is made by the commands that the guide prints', () => {
  const { create } = createStarterData()['next']
  expect(create).toEqual(['npx create-next-app@latest my-app --yes', 'cd my-app'])
})

test('the module is code that exports the data', async () => {
  const module = await import(`data:text/javascript,${encodeURIComponent(createModule('#init-data'))}`)
  expect({ ...module }).toEqual(data)
})
