import { describe, expect, test } from 'vitest'
import { fc } from '../../test/support/fast-check.ts'
import type { Problem } from './config.ts'
import { parseHost, parseHttpUrl } from './http-url.ts'
import type { IdpClientOptions } from './options.ts'
import { resolve } from './resolve.ts'

function problemsOf(options: IdpClientOptions, env = {}): readonly Problem[] {
  const complete = {
    domain: 'idp.example.com',
    clientId: 'c',
    clientSecret: 's',
    secret: '0123456789'.repeat(4),
  }
  return resolve({ ...complete, ...options }, env).problems
}

/** Each with what the message has to say beyond the rule. */
const wrong: readonly [host: string, hint: RegExp | null][] = [
  ['*.example.com', /\* are not supported/],
  ['app-*.example.com', /\* are not supported/],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: what a shell would have replaced.
  ['${HOST}', /placeholder/],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: what a shell would have replaced.
  ['${HOST}.example.com', /placeholder/],
  ['{tenant}.example.com', /placeholder/],
  ['undefined', /placeholder/],
  ['undefined:3000', /placeholder/],
  ['undefined.example.com', /placeholder/],
  ['null', /placeholder/],
  ['NaN', /placeholder/],
  ['example.com/undefined', /placeholder/],
  ['"example.com"', /quotes/],
  ["'example.com'", /quotes/],
  ['example.com;', null],
  ['example.com;b.example.com', null],
  ['example.com|b', null],
  ['a..example.com', null],
  ['.example.com', null],
  ['example.com.', null],
  ['..', null],
  ['-example.com', null],
  ['example.com/../admin', null],
  ['example.com/./x', null],
  ['example.com/%2e%2e/x', null],
  ['example.com//x', null],
  ['example.com/<x>', null],
  ['example.com/a b', null],
  ['example.com:0', null],
  ['example.com:00443', null],
  ['example.com:65536', null],
  ['example.com:', null],
  ['example.com:80:80', null],
  ['https://example.com', null],
  ['http:example.com', null],
  ['user@example.com', null],
  ['1.2.3', null],
  ['0x7f.1', null],
  ['256.1.1.1', null],
  ['[::1', null],
  ['[::g]', null],
  ['münchen.example', /xn--/],
  ['ｅxample.com', /xn--/],
  [`${'a'.repeat(64)}.com`, null],
  [`${'a.'.repeat(140)}com`, null],
  ['', null],
  ['?', null],
  ['#', null],
  ['\\\\example.com', null],
]

describe('[E1] a host that cannot exist', () => {
  test.each(wrong)(
    '%s is rejected in appBaseUrl and domain, as an option and as a variable',
    (host, hint) => {
      const url = `https://${host}`
      const messages = [
        problemsOf({ appBaseUrl: url }),
        problemsOf({ appBaseUrl: [url] }),
        problemsOf({ appBaseUrl: ['https://a.example.com', url] }),
        problemsOf({}, { APP_BASE_URL: url }),
        problemsOf({}, { APP_BASE_URL: `https://a.example.com,${url}` }),
        problemsOf({ domain: url }),
        problemsOf({ domain: undefined }, { IDP_DOMAIN: url }),
        ...(host === '' || host.includes('//') ? [] : [problemsOf({ domain: host })]),
      ]
      for (const problems of messages) {
        expect(problems).toHaveLength(1)
        expect(problems[0]?.kind).toMatch(/^wrong-/)
        expect(problems[0]?.message).toMatch(/^(?:appBaseUrl|APP_BASE_URL|domain|IDP_DOMAIN) /)
        if (hint) expect(problems[0]?.message).toMatch(hint)
      }
    },
  )

  test('for a comma the message mentions the list', () => {
    const several = 'https://a.example.com,https://b.example.com'
    expect(problemsOf({ appBaseUrl: several })).toEqual([
      {
        kind: 'wrong-option',
        message: expect.stringMatching(/^appBaseUrl must be .*for several URLs pass an array/),
      },
    ])
    expect(problemsOf({ appBaseUrl: [several] })).toEqual([
      { kind: 'wrong-option', message: expect.stringMatching(/each URL is an entry of its own/) },
    ])
    expect(problemsOf({ domain: 'a.example.com,b.example.com' })).toEqual([
      { kind: 'wrong-option', message: expect.stringMatching(/^domain must be .*a client has one provider/) },
    ])
    expect(problemsOf({}, { APP_BASE_URL: several })).toEqual([])
  })

  test.each([
    'app.example.com',
    'localhost',
    'localhost:3000',
    'keycloak:8080',
    'idp_internal.corp:8443',
    '10.0.0.7',
    '127.0.0.1:65535',
    '[::1]:3000',
    '[2001:db8::1]',
    'xn--mnchen-3ya.example',
    'App.Example.com',
    'null.example.com',
    'example.com/realms/a%20b',
    'example.com/tenant.example.com/B2C_1_sign-in/v2.0/',
    'example.com/a~b/@x:y/$(1)+2=3&4!',
    'example.com//',
  ])('%s is a valid host', (host) => {
    expect(problemsOf({ appBaseUrl: `https://${host}` })).toEqual([])
    expect(problemsOf({ domain: host })).toEqual([])
    expect(problemsOf({ domain: ` https://${host}\n` })).toEqual([])
  })

  test('an accepted URL is unchanged', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.webUrl(),
          fc.webAuthority({ withPort: true }).map((at) => `https://${at}`),
        ),
        (text) => {
          const url = parseHttpUrl(text)
          if (!url) return
          expect(parseHost(url.host)).toBe(url.host)
          expect(url.username + url.password + url.search + url.hash).toBe('')
          expect(text.toLowerCase()).toContain(url.hostname)
        },
      ),
    )
  })
})
