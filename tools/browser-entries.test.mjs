import { expect, test } from 'vitest'
import { fromRoot, runNode } from './lib/run.mjs'

// The environment of Jest for jsdom has neither class.
test.each(['browser', 'errors', 'react', 'testing-browser'])(
  '%s loads without TextEncoder',
  async (entry) => {
    const path = JSON.stringify(fromRoot(`packages/idp-client/dist/${entry}.js`))
    const code = `delete globalThis.TextEncoder; delete globalThis.TextDecoder; await import(${path})`
    expect(await runNode(['--input-type=module', '--eval', code])).toMatchObject({ code: 0 })
  },
)
