import { expect, test } from 'vitest'
import { withMatrix } from './results.mjs'

test('the matrix has a row for each host, and other versions of a framework have a table of their own', () => {
  const text =
    '<!-- Hosts, written by us. -->\n\n| old |\n\nText.\n\n<!-- Other versions, written by us. -->\n\n'
  const versions = { 'react-router': '8.4.0', 'Node.js': '22.23.3' }
  const page = withMatrix(text, { koa: { koa: '3.3.0' }, 'react-router-8': versions, node: {} })
  const [main, other] = page.split('Text.')
  expect(main).not.toContain('old')
  expect(main).toContain('| [Koa](../guides/hosts/koa.md) | `idp-client/koa` | koa 3.3.0 | none needed |\n')
  expect(main).toMatch(/\| \[Node.js .* \| Node\.js \d+ \| none needed \|\n/)
  expect(main).not.toContain('React Router 8')
  expect(other).toContain(
    '| [React Router 8](../guides/hosts/react-router.md) | `idp-client/react-router` | react-router 8.4.0, Node.js 22.23.3 | built |\n',
  )
})
