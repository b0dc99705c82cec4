import { equal, ok } from 'node:assert/strict'
import { assertionKey } from '../support/credentials.mjs'
import { expectSuccess } from './context.mjs'

/** A client whose only key signs its assertions and, if `isSigned`, its requests; the provider refuses others. */
function signingClient(kind, algorithm, { isSigned = true, ...client } = {}) {
  const { privatePem, publicJwk } = assertionKey(kind)
  const keyId = 'requests'
  return {
    client: {
      ...{ method: 'private_key_jwt', algorithm, requestAlgorithm: algorithm, ...client },
      jwks: { keys: [{ ...publicJwk, use: 'sig', alg: algorithm, kid: keyId }] },
    },
    options: {
      ...{ clientAssertionSigningAlg: algorithm, clientAssertionSigningKeyId: keyId },
      ...(isSigned ? { requestObject: { key: privatePem, alg: algorithm, keyId } } : {}),
    },
    variables: { IDP_CLIENT_ASSERTION_SIGNING_KEY: privatePem },
  }
}

const pushed = (setup) => ({ ...setup, options: { ...setup.options, pushedAuthorizationRequests: true } })

async function expectRefusedLogin(context, setup) {
  const app = await context.application(setup)
  const browser = context.browser()
  const page = await browser.open(`${app.url}/auth/login?returnTo=/whoami`, context.provider.user)
  ok(page.status >= 400, `the login ended with ${page.status}`)
  equal((await context.whoami(browser, app)).sub, null)
}

export const signedRequests = [
  {
    title: 'signed authorization requests (JAR), in the address',
    needs: ['signed requests'],
    async run(context) {
      const app = await context.application(signingClient('EC', 'ES256'))
      await context.login(context.browser(), app)
    },
  },
  {
    title: 'signed authorization requests (JAR), pushed',
    needs: ['signed requests'],
    async run(context) {
      const app = await context.application(pushed(signingClient('RSA', 'PS256', { par: true })))
      await context.login(context.browser(), app)
      const sent = app.reports().requests.filter(({ path }) => /\/par(?:\/request)?$/.test(path))
      ok(sent.length > 0 && sent.every(({ isSigned }) => isSigned), 'the pushed request was signed')
    },
  },
  {
    title: 'a client that has to sign its requests and does not is refused',
    needs: ['signed requests'],
    async run(context) {
      await expectRefusedLogin(context, signingClient('EC', 'ES256', { isSigned: false }))
    },
  },
  {
    title: 'a client that has to sign its pushed requests and does not is refused',
    needs: ['signed requests'],
    async run(context) {
      await expectRefusedLogin(context, pushed(signingClient('EC', 'ES256', { isSigned: false, par: true })))
    },
  },
  {
    title: 'signed backchannel authentication requests (CIBA)',
    needs: ['signed requests'],
    async run(context) {
      const app = await context.application(signingClient('EC', 'ES256', { ciba: true }))
      const { sub } = await expectSuccess(
        context.browser(),
        app,
        `/approve?user=${context.provider.user.username}`,
      )
      ok(sub, 'the ID token names the user')
      ok(
        app.reports().requests.some(({ isSigned, path }) => isSigned && /ciba/.test(path)),
        'the request was signed',
      )
    },
  },
]
