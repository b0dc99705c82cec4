import type { BrowserResponse, Sending } from './browser.ts'
import { Browser } from './browser.ts'
import { claim, claimEqual } from './claim.ts'
import type { ContractCase, ContractHost } from './host.ts'
import { claimNoCookies, claimNotStored } from './response-claims.ts'

const AUDIENCE = 'https://api.example.test/'
/** The API that accepts only access tokens, and the one that also accepts sessions. */
const PATHS = ['/resource', '/shared'] as const

const bearer = (token: string): Sending => ({ headers: { authorization: `Bearer ${token}` } })

async function signedInBrowser(host: ContractHost): Promise<Browser> {
  const browser = new Browser(host)
  await browser.logIn({ user: 'alice' })
  return browser
}

function claimRefused(response: BrowserResponse, code: string, what: string): void {
  claimEqual([response.status, response.location], [401, null], what)
  claimEqual((JSON.parse(response.text) as Record<string, unknown>)['code'], code, `the code for ${what}`)
  claimNotStored(response, what)
}

function claimAnonymous(response: BrowserResponse, what: string): void {
  claimRefused(response, 'NOT_AUTHENTICATED', what)
  const challenge = response.headers.get('www-authenticate') ?? ''
  claim(/^Bearer\b(?!.*error)/.test(challenge), `the challenge names no error (${challenge})`)
}

function claimInvalidToken(response: BrowserResponse, what: string): void {
  claimRefused(response, 'INVALID_TOKEN', what)
  const challenge = response.headers.get('www-authenticate') ?? ''
  claim(/^Bearer .*error="invalid_token"/.test(challenge), `the challenge names the error (${challenge})`)
}

async function claimSession(browser: Browser, sending?: Sending): Promise<void> {
  const { kind, sub } = await browser.json('/shared', sending)
  claim(kind === 'session' && String(sub).includes('alice'), `the user of the session (${kind}, ${sub})`)
}

const anonymous: ContractCase = {
  title: 'an API that accepts access tokens challenges requests without a credential',
  async run(host) {
    for (const path of PATHS) {
      const response = await new Browser(host).send(path)
      claimAnonymous(response, path)
      claimNoCookies(response, path)
    }
  },
}

const accepted: ContractCase = {
  title: 'an access token passes with its user, even beside the session of another user',
  async run(host) {
    const token = await host.accessToken({ sub: 'carol', aud: AUDIENCE })
    for (const browser of [new Browser(host), await signedInBrowser(host)])
      for (const path of PATHS)
        claimEqual(await browser.json(path, bearer(token)), { kind: 'token', sub: 'carol' }, path)
  },
}

const session: ContractCase = {
  title: 'a session alone passes only where sessions are accepted',
  async run(host) {
    const browser = await signedInBrowser(host)
    await claimSession(browser)
    claimAnonymous(await browser.send('/resource'), 'a session at /resource')
  },
}

const refused: ContractCase = {
  title: 'an ID token and a token for another API are refused, even beside a valid session',
  async run(host) {
    const { location } = await (await signedInBrowser(host)).send('/auth/logout')
    const idToken = location?.searchParams.get('id_token_hint') ?? ''
    claimEqual(idToken.split('.').length, 3, 'parts of the ID token that the logout sends to the provider')
    const foreign = await host.accessToken({ sub: 'carol', aud: 'https://other.example.test/' })
    for (const browser of [new Browser(host), await signedInBrowser(host)])
      for (const path of PATHS) {
        claimInvalidToken(await browser.send(path, bearer(idToken)), `an ID token at ${path}`)
        claimInvalidToken(await browser.send(path, bearer(foreign)), `a token for another API at ${path}`)
      }
  },
}

const list: ContractCase = {
  title: 'two access tokens in one request are refused',
  async run(host) {
    const token = await host.accessToken({ sub: 'carol', aud: AUDIENCE })
    for (const path of PATHS) {
      const { status } = await new Browser(host).send(path, bearer(`${token}, Bearer ${token}`))
      claimEqual(status, 400, `status of ${path}`)
    }
  },
}

const post = (origin: string, site: string): Sending => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', origin, 'sec-fetch-site': site },
  body: '{}',
})

const crossSite: ContractCase = {
  title: 'a page of another site cannot write with the cookie alone to an API that accepts sessions',
  async run(host) {
    const browser = await signedInBrowser(host)
    await claimSession(browser, post(browser.url('').origin, 'same-origin'))
    const { status, text } = await browser.send('/shared', post('https://other.example', 'cross-site'))
    claimEqual(status, 403, 'status of the cross-site request')
    const { code } = JSON.parse(text) as Record<string, unknown>
    claimEqual(code, 'CROSS_SITE_REQUEST', 'code of the cross-site request')
  },
}

/** Cases for an API that accepts access tokens. */
export const accessTokens: readonly ContractCase[] = [anonymous, accepted, session, refused, list, crossSite]
