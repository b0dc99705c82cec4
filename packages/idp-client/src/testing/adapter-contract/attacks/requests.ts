import type { Sending } from '../browser.ts'
import type { ContractHost } from '../host.ts'
import type { Attack } from './attack.ts'
import { AUDIENCE, refusals, toAttack } from './attack.ts'

/** A write as pages send it. */
export const post = (headers: Readonly<Record<string, string>>): Sending => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: '{}',
})

const PAGES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'a page of another site': { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
  'a page of another site, in an old browser': { origin: 'https://evil.example' },
  'a page of a sibling': { 'sec-fetch-site': 'same-site', origin: 'https://sibling.example' },
  'an opaque origin': { origin: 'null' },
  'the address bar': { 'sec-fetch-site': 'none' },
}

const anonymous = (title: string, sending: Sending, path = '/resource'): Attack => ({
  ...toAttack(title, sending, refusals.anonymous),
  path,
})

/** Returns the attacks with credentials in a wrong form, and with the cookie alone. */
export async function requestAttacks(host: ContractHost): Promise<readonly Attack[]> {
  const token = await host.accessToken({ sub: 'carol', aud: AUDIENCE })
  const malformed = [
    'Bearer',
    'DPoP',
    `Bearer  ${token} ${token}`,
    `Bearer ${token}, Bearer ${token}`,
    `Bearer ${token},${token}`,
    `Basic dTpw, Bearer ${token}`,
    `Bearer ${token}, Basic dTpw`,
    `Bearer "${token}"`,
    `Bearer ${token};a`,
    `Bearer:${token}`,
    `Bearer=${token}`,
    `"Bearer" ${token}`,
    `;Bearer ${token}`,
    `Bearer\t${token}`,
  ]
  const attacks = malformed.map((authorization) => {
    const title = `the credential ${authorization.replaceAll(token, '<token>')}`
    return toAttack(title, { headers: { authorization } }, refusals.malformed)
  })
  return [
    ...attacks,
    ...attacks.slice(0, 4).map((attack) => ({ ...attack, path: '/resource' })),
    anonymous('no credential', {}),
    anonymous('an empty credential', { headers: { authorization: '' } }),
    anonymous('Basic', { headers: { authorization: 'Basic dTpw' } }),
    anonymous('a token without a scheme', { headers: { authorization: token } }),
    anonymous('a token of another scheme', { headers: { authorization: `Token ${token}` } }),
    anonymous('a token in a cookie', { headers: { cookie: `access_token=${token}` } }),
    anonymous('a token in the query', {}, `/resource?access_token=${token}`),
    anonymous('a token in a header of another name', { headers: { 'x-access-token': token } }),
    ...Object.entries(PAGES).map(([page, headers]) =>
      toAttack(`a write with the cookie alone by ${page}`, post(headers), refusals.crossSite),
    ),
  ]
}
