import { expect, test } from 'vitest'
import { forbidden } from './check-words.mjs'

// Spelled apart, so that this file passes the check itself.
const home = ['', 'home', 'user', 'project'].join('/')
const host = ['registry', 'packages', 'example'].join('.')

test('paths of a machine and registry hosts are found with their line', () => {
  expect(forbidden('a.md', `fine\ncd ${home}\nnpm --registry https://${host}/`)).toEqual([
    'a.md:2 names an absolute path of a machine',
    'a.md:3 names a package registry',
  ])
})

test('relative paths, routes and imports are fine', () => {
  expect(
    forbidden(
      'a.ts',
      "import '../home/item.ts'\nfetch('/auth/login')\nconst url = 'https://a.example/tmp/x'",
    ),
  ).toEqual([])
})
