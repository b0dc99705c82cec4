import { ASSERTION_OPTIONS } from './client-auth.ts'
import type { ClientAuth, Config } from './config.ts'
import type { OptionPath } from './option-rows.ts'
import { customFetch } from './options.ts'
import type { Source } from './readers.ts'
import { getField, invalid, isPresent, isSet, readFlag, toName } from './readers.ts'

/** How `[customFetch]` presents a certificate. The runtimes have no common way, so that no default is possible. */
const PRESENTING =
  'Node.js: import { Agent, fetch } from "undici", dispatcher = new Agent({ connect: { cert, key } }), [customFetch]: (url, init) => fetch(url, { ...init, dispatcher }); ' +
  'Bun: [customFetch]: (url, init) => fetch(url, { ...init, tls: { cert, key } }); ' +
  'Deno: client = Deno.createHttpClient({ cert, key }), [customFetch]: (url, init) => fetch(url, { ...init, client }); ' +
  'Workers: a binding of mtls_certificates, [customFetch]: (url, init) => env.CERTIFICATE.fetch(url, init); ' +
  'other runtimes, such as browsers and most edge runtimes, cannot present one'

/** The other ways to authenticate the client. */
const OTHER_METHODS = ['clientSecret', 'clientAssertionSigningKey', 'tokenEndpointAuthMethod'] as const

function checkOnlyMethod(source: Source): void {
  const field = getField('clientCertificate', source)
  const toSetNames = (names: readonly OptionPath[]) =>
    names
      .map((name) => getField(name, source))
      .filter(isSet)
      .map(toName)
  for (const name of toSetNames(OTHER_METHODS))
    invalid(field, `is a way to authenticate the client, and so is ${name}: set one of the two`)
  for (const name of toSetNames(ASSERTION_OPTIONS))
    invalid(field, `authenticates the client without an assertion: remove ${name}`)
}

/** Checks what cannot go with bound tokens: another binding, and a secret, which anybody may use who has read it. */
function checkBoundTokens(source: Source, isAuthenticated: boolean): void {
  const field = getField('certificateBoundAccessTokens', source)
  if (readFlag(getField('useDPoP', source)))
    invalid(field, 'and useDPoP bind tokens in two ways: set one of the two')
  const hasKey = isSet(getField('clientAssertionSigningKey', source))
  if (!isAuthenticated && !hasKey && isSet(getField('clientSecret', source)))
    invalid(field, 'needs clientCertificate or clientAssertionSigningKey in place of a client secret')
}

/** Resolves what the certificate of the client is for (RFC 8705); undefined if it presents none. */
export function resolveMutualTls(source: Source, clientAuth: ClientAuth | undefined): Config['mutualTls'] {
  const boundTokens = readFlag(getField('certificateBoundAccessTokens', source))
  const clientCertificate = clientAuth?.kind === 'certificate'
  if (!clientCertificate && !boundTokens) return undefined
  if (clientCertificate) checkOnlyMethod(source)
  if (boundTokens) checkBoundTokens(source, clientCertificate)
  if (!isPresent(source.options[customFetch])) {
    const name = clientCertificate ? 'clientCertificate' : 'certificateBoundAccessTokens'
    invalid(getField(name, source), `needs [customFetch], which presents the certificate. ${PRESENTING}`)
  }
  return { boundTokens }
}
