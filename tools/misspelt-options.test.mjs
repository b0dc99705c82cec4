import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PackedApp } from './lib/packed-app.mjs'

const app = new PackedApp('misspelt')

const heading = `import type { NextApiRequest, NextApiResponse } from 'next'
import { IdpClient } from 'idp-client/next'
declare const idp: IdpClient
declare const req: NextApiRequest
declare const res: NextApiResponse
declare const mfaToken: string
`

const didYouMean = (written, right) =>
  new RegExp(`'${written}' does not exist in type '\\w+'. Did you mean to write '${right}'\\?`)

/** Calls that must not compile, and what the compiler says on their line. */
const misspelt = [
  ['idp.getAccessToken({ refesh: true })', didYouMean('refesh', 'refresh')],
  ["idp.connectAccount({ connection: 'github', retrunTo: '/' })", didYouMean('retrunTo', 'returnTo')],
  ["idp.createFetcher({ baseURL: 'https://api.example.com' })", didYouMean('baseURL', 'baseUrl')],
  ["idp.startInteractiveLogin({ returnTO: '/orders' })", didYouMean('returnTO', 'returnTo')],
  ["idp.mfa.verify({ mfaTokn: mfaToken, otp: '1' })", didYouMean('mfaTokn', 'mfaToken')],
  ["idp.getAccessToken(req, res, { audence: 'https://api.example.com' })", didYouMean('audence', 'audience')],
  [
    "idp.getAccessTokenForConnection(req, res, { conection: 'github' })",
    didYouMean('conection', 'connection'),
  ],
]

/** The same mistakes without a request, on the other hosts. */
const otherEntries = ['idp-client', 'idp-client/express']
const ambient = misspelt.filter(([call]) => !call.includes('req'))

const wrong = [
  ['idp.getAccessToken(res, req)', /error TS/],
  ['idp.connectAccount()', /Expected 1-3 arguments, but got 0/],
  ['idp.revokeRefreshToken({ refreshToken: mfaToken }, req, res)', /error TS/],
  ['idp.getSession({ req, res })', /error TS2353: Object literal may only specify known properties/],
]

const right = [
  'idp.getAccessToken({ refresh: true })',
  'idp.getAccessToken(req)',
  'idp.getAccessToken(req, res, { refresh: true })',
  'idp.getAccessToken({ refresh: true }, req, res)',
  "idp.getAccessTokenForConnection({ connection: 'github' }, req, res)",
  "idp.getAccessTokenForConnection(req, res, { connection: 'github' })",
  "idp.connectAccount({ connection: 'github' }, req)",
  "idp.connectAccount(req, { connection: 'github' })",
  "idp.deleteConnectedAccount({ id: 'account' }, req, res)",
  "idp.startInteractiveLogin({ returnTo: '/' }, req, res)",
  "idp.startInteractiveLogin(req, res, { returnTo: '/' })",
  "idp.createFetcher({ baseUrl: 'https://api.example.com' }, req, res)",
  "idp.createFetcher(req, { baseUrl: 'https://api.example.com' })",
  "idp.mfa.verify({ mfaToken, otp: '1' }, req, res)",
  "idp.mfa.verify(req, res, { mfaToken, otp: '1' })",
  'idp.revokeRefreshToken({}, req, res)',
  'idp.revokeRefreshToken(req, res)',
  "idp.updateSession({ user: { sub: 'a' }, tokenSet: { accessToken: 'b', expiresAt: 1 }, internal: { createdAt: 1 } }, req, res)",
]

/** The messages of the compiler, by the call in their line. */
let said

beforeAll(async () => {
  await app.install()
  const calls = [...misspelt, ...wrong].map(([call]) => call).concat(right)
  const output = await app.compile({ 'calls.ts': heading + calls.map((call) => `void ${call}\n`).join('') })
  const first = heading.split('\n').length
  said = Object.fromEntries(calls.map((call) => [call, '']))
  for (const [message, line] of output.matchAll(/^calls\.ts\((\d+),\d+\): .*(?:\n {2}.*)*/gm)) {
    said[calls[Number(line) - first] ?? `line ${line}`] = message
  }
})

afterAll(() => app.remove())

test.each(otherEntries)(
  '[G1] %s: the correct name is in the message about each misspelt one',
  async (entry) => {
    const client = `import { IdpClient } from '${entry}'\ndeclare const idp: IdpClient\ndeclare const mfaToken: string\n`
    const output = await app.compile({
      'other.ts': client + ambient.map(([call]) => `void ${call}\n`).join(''),
    })
    for (const [index, [, message]] of ambient.entries()) {
      const [, said] =
        new RegExp(`^other\\.ts\\(${index + 4},\\d+\\): (.*(?:\\n {2}.*)*)`, 'm').exec(output) ?? []
      expect(said).toMatch(message)
    }
  },
)

describe('with the packed package', () => {
  test.each(misspelt)('[G1] %s does not compile, and the message has the correct name', (call, message) => {
    expect(said[call]).toMatch(message)
  })

  test.each(wrong)('[G1] %s does not compile', (call, message) => {
    expect(said[call]).toMatch(message)
  })

  test.each(right)('[G1] %s compiles', (call) => {
    expect(said[call]).toBe('')
  })

  test('no other line has an error', () => {
    expect(Object.keys(said)).toHaveLength(misspelt.length + wrong.length + right.length)
  })
})
