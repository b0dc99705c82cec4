import { equal, ok } from 'node:assert/strict'
import { assertionKey, dpopKeys } from '../support/credentials.mjs'
import { expectSuccess } from './context.mjs'

const isPushed = ({ path }) => /\/par(?:\/request)?$/.test(path)

async function expectBoundTokens(context, setup) {
  const app = await context.application(setup)
  const browser = context.browser()
  const { sub } = await context.login(browser, app)
  for (const path of ['/token', '/token?refresh=1']) {
    const token = await expectSuccess(browser, app, path)
    equal(token.type, 'DPoP', path)
    equal(token.bound, true, 'the access token names the key')
  }
  equal((await expectSuccess(browser, app, '/userinfo')).sub, sub)
  return app.reports().requests
}

export const senderConstrained = [
  {
    title: 'pushed authorization requests (PAR)',
    needs: ['par'],
    async run(context) {
      const app = await context.application({
        client: { par: true },
        options: { pushedAuthorizationRequests: true },
      })
      await context.login(context.browser(), app)
      ok(app.reports().requests.some(isPushed), 'the request was pushed')
    },
  },
  {
    title: 'DPoP: login, refresh and UserInfo with bound tokens',
    needs: ['dpop'],
    async run(context) {
      await expectBoundTokens(context, {
        client: { dpop: true },
        options: { useDPoP: true },
        variables: dpopKeys(),
      })
    },
  },
  {
    title: 'PAR, private_key_jwt with PS256 and DPoP together',
    needs: ['par', 'dpop'],
    async run(context) {
      const { privatePem, publicJwk } = assertionKey('RSA')
      const requests = await expectBoundTokens(context, {
        client: {
          ...{ method: 'private_key_jwt', algorithm: 'PS256', dpop: true, par: true },
          jwks: { keys: [{ ...publicJwk, use: 'sig', kid: 'fapi' }] },
        },
        options: {
          ...{ useDPoP: true, pushedAuthorizationRequests: true },
          ...{ clientAssertionSigningAlg: 'PS256', clientAssertionSigningKeyId: 'fapi' },
        },
        variables: { ...dpopKeys(), IDP_CLIENT_ASSERTION_SIGNING_KEY: privatePem },
      })
      const pushed = requests.find(isPushed)
      equal(pushed?.assertion.alg, 'PS256')
    },
  },
]
