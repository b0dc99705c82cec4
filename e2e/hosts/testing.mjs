// The application of examples/testing with its tests, which the test runner of Playwright runs.
import { doesNotMatch, match } from 'node:assert/strict'
import { join } from 'node:path'
import { unpack } from '../../tools/lib/package-content.mjs'
import { freePort } from '../../tools/lib/ports.mjs'
import { pack } from '../../tools/pack.mjs'
import { findChromium } from '../fixtures/support/chromium.ts'
import { cache, Host } from './host.mjs'

const playwright = ['node_modules/@playwright/test/cli.js', 'test']
const tsc = ['node_modules/typescript/bin/tsc']

/** The printed addresses may be in use by an application in development. */
async function toVariables() {
  const port = String(await freePort())
  return {
    APP_BASE_URL: `http://localhost:${port}`,
    CHROMIUM_PATH: findChromium(),
    IDP_DOMAIN: `http://localhost:${await freePort()}`,
    PORT: port,
  }
}

async function install(host, tarball) {
  await host.install(tarball)
  await unpack(await pack('packages/dev-provider', cache), join(host.folder, 'node_modules/idp-dev-provider'))
}

/** Tests that are set up wrongly: each message says what to do, and no secret. */
async function expectRefusals(host) {
  const run = host.run(
    [[...playwright, '-c', '../contract/misuse.config.ts']],
    'example',
    await toVariables(),
  )
  const { message } = await run.then(
    () => new Error('nothing failed'),
    (error) => error,
  )
  match(message, /\b5 failed\b/)
  match(message, /set IDP_SECRET for Playwright and the application/)
  match(message, /the option user must have a sub/)
  match(message, /there are alice, bob, mallory\. Add one by the option providerOptions\.users/)
  match(message, /the option user or storageState, not both/)
  match(message, /leads to a page with status 404, not to a login page/)
  doesNotMatch(message, /a secret that is sho|passed/)
}

/**
 * Returns the steps: titles with what they run.
 *
 * @param {{ quick: boolean, running: () => object }} options `running` returns the provider, the packed library and the browser,
 *   if there is one
 */
export function toTestingSteps({ quick, running }) {
  const host = new Host('testing', { application: 'testing' })
  const steps = {
    installs: () => install(host, running().tarball),
    'its tests pass': async () => host.run([playwright], 'example', await toVariables()),
  }
  const further = {
    'its types resolve': () => host.run([tsc], 'example'),
    'tests that are set up wrongly say what to do': () => expectRefusals(host),
  }
  return Object.entries(quick ? steps : { ...steps, ...further })
}
