import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { IdpError } from '../errors/base.ts'
import type { Code } from '../errors/code.ts'
import { codes } from '../errors/codes.ts'
import { diagnose } from '../errors/diagnosis.ts'
import { remedies } from '../errors/remedies.ts'
import type { Remedy } from '../errors/remedy.ts'
import type { Failure } from './failure-page.ts'
import { failureJson, failurePage } from './failure-page.ts'
import { STYLE, STYLE_HASH } from './page.ts'

const diagnosisOf = (code: Code, remedy: Remedy = code) => diagnose(new IdpError(code, { remedy }))

const failure: Failure = {
  status: 400,
  diagnosis: diagnosisOf('UNKNOWN_STATE'),
  development: false,
  id: 'Kj3-x_9',
  homeUrl: '/app/',
  retryUrl: '/app/auth/login?returnTo=%2Fa%3Fb%3D1&x=y',
}
const html = (change: Partial<Failure> = {}): Promise<string> => failurePage({ ...failure, ...change }).text()
const titleOf = async (change: Partial<Failure>): Promise<string | undefined> =>
  /<title>([^<]*)<\/title>/.exec(await html(change))?.[1]

describe('failurePage', () => {
  it('has a policy that allows its own style and nothing else', () => {
    const { headers, status } = failurePage(failure)
    expect(status).toBe(400)
    expect(headers.get('Content-Type')).toBe('text/html; charset=utf-8')
    expect(headers.get('Content-Security-Policy')).toBe(
      `default-src 'none'; style-src '${STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    )
    expect(headers.get('Referrer-Policy')).toBe('no-referrer')
    expect(headers.get('X-Content-Type-Options')).toBe('nosniff')
    expect(headers.get('Cache-Control')).toContain('no-store')
  })

  it('has the hash of its style', async () => {
    expect(STYLE_HASH).toBe(`sha256-${createHash('sha256').update(STYLE).digest('base64')}`)
    expect(/<style>([\s\S]*)<\/style>/.exec(await html())?.[1]).toBe(STYLE)
    expect(await html()).not.toMatch(/ style=|<script|<img|<link| on\w+=/)
  })

  it('shows a link, the code and the correlation id', async () => {
    const page = await html()
    expect(page).toContain('href="/app/auth/login?returnTo=%2Fa%3Fb%3D1&amp;x=y">Try again</a>')
    expect(page).toContain('href="/app/">Home</a>')
    expect(page).toContain('UNKNOWN_STATE')
    expect(page).toContain('Kj3-x_9')
    expect(page).toContain('<html lang="en">')
    expect(page).not.toContain('http-equiv')
    const { retryUrl: _, ...without } = failure
    expect(await failurePage(without).text()).not.toContain('Try again')
  })

  it('restarts the login automatically only if requested', async () => {
    const page = await html({ restartUrl: '/app/auth/login?returnTo=%2Fa&b=1' })
    expect(page).toContain(
      '<meta http-equiv="refresh" content="0;url=/app/auth/login?returnTo=%2Fa&amp;b=1">',
    )
    expect(page).toContain('href="/app/auth/login?returnTo=%2Fa&amp;b=1">Try again</a>')
  })

  it('escapes links, and drops those with another scheme', async () => {
    const hostile = '"><script>alert(1)</script>'
    const page = await html({
      id: hostile,
      homeUrl: `/${hostile}`,
      retryUrl: `https://a.example/${hostile}'`,
    })
    expect(page).not.toContain('<script>')
    expect(page).toContain('href="/&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"')
    for (const url of [
      'javascript:alert(1)',
      '//evil.example',
      '/\\evil.example',
      'data:text/html,x',
      'evil',
      '',
    ]) {
      const dropped = await html({ homeUrl: url, retryUrl: url, restartUrl: url })
      expect(dropped).not.toContain('<a ')
      expect(dropped).not.toContain('http-equiv')
    }
  })

  it('has a text for each kind of failure', async () => {
    const words: [Code, number, RegExp][] = [
      ['AUTHORIZATION_ERROR', 400, /not completed/],
      ['EXPIRED_STATE', 400, /no longer valid/],
      ['AUTHORIZATION_CODE_GRANT_ERROR', 400, /no longer valid/],
      ['AUTHORIZATION_CODE_GRANT_ERROR', 502, /cannot be used right now/],
      ['DISCOVERY_TIMEOUT', 504, /cannot be used right now/],
      ['INVALID_CONFIGURATION', 500, /not set up/],
      ['BASE_URL_NOT_ALLOWED', 400, /not set up/],
      ['INVALID_REQUEST', 400, /cannot be opened/],
      ['ACCESS_DENIED', 403, /do not have access/],
      ['WRONG_ORGANIZATION', 403, /do not have access/],
      ['INSUFFICIENT_SCOPE', 403, /do not have access/],
      ['HOOK_FAILED', 500, /went wrong/],
      ['INTERNAL_ERROR', 500, /went wrong/],
      ['SESSION_STORE_FAILED', 503, /went wrong/],
    ]
    for (const [code, status, title] of words) {
      expect(await titleOf({ diagnosis: diagnosisOf(code), status }), code).toMatch(title)
    }
  })

  it.each([
    ['CLIENT_REFUSED', /not set up/],
    ['SCOPE_REFUSED', /not set up/],
    ['CERTIFICATE_NOT_TRUSTED', /not set up/],
    ['DISCOVERY_NOT_FOUND', /not set up/],
    ['CLOCKS_DIFFER', /not set up/],
    ['CONNECTION_REFUSED', /cannot be used right now/],
    ['PROVIDER_TIMEOUT', /cannot be used right now/],
    ['PROVIDER_UNAVAILABLE', /cannot be used right now/],
  ] as const)('[A1] does not suggest a retry if a developer has to act: %s', async (remedy, title) => {
    const diagnosis = diagnosisOf('AUTHORIZATION_CODE_GRANT_ERROR', remedy)
    expect(await titleOf({ diagnosis, status: 502 })).toMatch(title)
  })

  it('[A1,N8] shows the diagnosis of the log and a link in development, and none of it in production', async () => {
    const diagnosis = {
      ...diagnosisOf('AUTHORIZATION_CODE_GRANT_ERROR', 'CLIENT_REFUSED'),
      detail: 'Be<cause.',
    }
    const page = await html({ diagnosis, development: true })
    expect(page).toContain('Be&lt;cause.')
    expect(page).toContain(remedies.CLIENT_REFUSED)
    expect(page).toContain(
      '<a href="https://github.com/idp-client/idp-client/blob/main/docs/guides/troubleshooting.md#CLIENT_REFUSED:~:text=CLIENT_REFUSED">Troubleshooting: CLIENT_REFUSED</a>',
    )
    const { error } = await failureJson({ ...failure, diagnosis, development: true }).json()
    expect(error).toMatchObject({
      detail: 'Be<cause.',
      advice: remedies.CLIENT_REFUSED,
      remedy: 'CLIENT_REFUSED',
    })
    const inProduction = { ...failure, diagnosis }
    for (const response of [failurePage(inProduction), failureJson(inProduction)]) {
      const text = await response.text()
      for (const hidden of ['cause.', remedies.CLIENT_REFUSED, 'CLIENT_REFUSED'])
        expect(text).not.toContain(hidden)
    }
  })

  it('has a text for every code', async () => {
    for (const code of Object.keys(codes) as Code[]) {
      expect(await titleOf({ diagnosis: diagnosisOf(code), status: codes[code].status }), code).toMatch(
        /^[A-Z][^<]+$/,
      )
    }
  })

  it('responds with JSON to a client that accepts only JSON', async () => {
    const response = failureJson(failure)
    expect(response.status).toBe(400)
    expect(response.headers.get('Content-Type')).toBe('application/json')
    expect(await response.json()).toEqual({
      error: { code: 'UNKNOWN_STATE', message: codes.UNKNOWN_STATE.message },
      id: 'Kj3-x_9',
    })
  })
})
