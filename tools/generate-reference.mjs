// node tools/generate-reference.mjs: writes the pages of docs/reference that follow from the source alone.
import { writeFileSync } from 'node:fs'
import { loadSource } from './lib/reference.mjs'
import { fromRoot, isMain } from './lib/run.mjs'

const families = {
  InvalidConfigurationError: 'Options or variables are missing, wrong or contradictory.',
  CallbackError: 'A login attempt failed. It reaches `onCallback` as `context.error`.',
  DiscoveryError: "The provider's metadata or keys could not be loaded. A failure is never cached.",
  OAuthError:
    'The provider said no, or could not be heard. Usually the `cause` of another error. It carries `error`, `status`, ' +
    '`description` and `retryAfter` where the answer had them; `transient` says whether the same request may succeed later.',
  AccessTokenError:
    'No access token can be handed out. The `cause` of `FAILED_TO_REFRESH_TOKEN` is an `OAuthError` or a `DiscoveryError`.',
  AccessTokenForConnectionError:
    'No access token of a connected account can be handed out. The `cause` of `FAILED_TO_EXCHANGE_REFRESH_TOKEN` is an ' +
    '`OAuthError` or a `DiscoveryError`.',
  CustomTokenExchangeError:
    'A token was not exchanged (RFC 8693). All codes but `EXCHANGE_FAILED` are about the options, and nothing was sent.',
  BackchannelAuthenticationError: '`getTokenByBackchannelAuth` brought no tokens.',
  LogoutTokenError:
    'A logout notification of the provider was not obeyed. It surfaces on the back-channel logout route only; the message ' +
    'names the check that failed.',
  MfaRequiredError:
    'The provider demands another factor before it hands out the token. It carries the encrypted `mfa_token` and, where the ' +
    'provider named them, `mfa_requirements`; the `cause` is the `OAuthError`.',
  MfaError:
    'A step of a multi-factor authentication failed. The `cause`, where the provider was asked, is an `OAuthError` or a ' +
    '`DiscoveryError`.',
  ConnectAccountError:
    'No account was connected. The `cause` of `FAILED_TO_INITIATE` and `FAILED_TO_COMPLETE` is an `AccountApiError`, an ' +
    '`AccessTokenError`, an `OAuthError` or a `DiscoveryError`.',
  ConnectedAccountsError:
    'The connected accounts could not be listed, or one not be disconnected. The `cause` is as in `ConnectAccountError`.',
  AccountApiError:
    "The provider's account API said no; the `cause` of the two before. `failure` has the `status` and, as untrusted text " +
    'of the provider, `type`, `title`, `detail` and `validationErrors`.',
  SessionStoreError: 'The session could not be stored. It carries `bytes` and `fields`, the sizes.',
  IdpError: 'The base of all classes, and the class of everything that has no family of its own.',
}

/** Codes that one class shares with another: the table names one class per code. */
const shared = {
  AccessTokenError: ['MISSING_SESSION'],
  MfaError: ['MISSING_SESSION'],
  ConnectAccountError: ['MISSING_SESSION', 'MISSING_CONNECTION'],
  ConnectedAccountsError: ['MISSING_SESSION'],
}

const introduction = `# Errors

<!-- Written by tools/generate-reference.mjs from packages/idp-client/src/errors/codes.ts. Do not edit. -->

Few classes, many codes. Every error has a \`code\` from the tables below. Codes may be relied on, texts may not.
Recognise an error by its code, with \`isIdpError\`, or by its class, with \`instanceof\`; every entry exports both. They
work across several copies of the package in one process and for the errors of the browser helpers. A subclass of your
own is recognised by its prototype chain, as any class.

\`\`\`ts
import { InvalidConfigurationError, isIdpError } from 'idp-client/errors'

export function explain(error: unknown): string {
  if (isIdpError(error, 'MISSING_SESSION')) return 'Please log in.'
  if (error instanceof InvalidConfigurationError) return 'Login is not set up yet.'
  if (isIdpError(error)) return \`Login is not possible (\${error.code}).\`
  throw error
}
\`\`\`

A message is text of this library. It never contains a token, a code, a cookie or text of a request. What the provider
said stands in the \`cause\`; its \`description\` is untrusted text and must be escaped before it is shown.

"Status" is the HTTP status when the error surfaces on a mounted route. The cause may change it: what the provider could
not do now is 502, 503 (it answered 429 or 503) or 504 (it took too long), what its account API refused keeps the status
that it was refused with, and an authorization code that it no longer
accepts is 400. Bodies are on the page about [routes](routes.md#bodies-of-errors).
`

const escaped = (text) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;')

const row = (cells) => `| ${cells.join(' | ')} |`

function section(family, codes) {
  const entries = Object.entries(codes).filter(([, entry]) => entry.class === family)
  const also = (shared[family] ?? []).map((code) => `\`${code}\``)
  return [
    `## ${family}`,
    '',
    families[family] + (also.length > 0 ? ` It also carries ${also.join(' and ')}.` : ''),
    '',
    row(['Code', 'Status', 'Meaning', 'What to do']),
    '|---|---|---|---|',
    ...entries.map(([code, { status, message, advice }]) =>
      row([`\`${code}\``, status, ...[message, advice].map(escaped)]),
    ),
    '',
  ].join('\n')
}

/** The page about errors. Throws when a class of the source has no description here. */
export function errorsPage(codes) {
  const unknown = Object.values(codes).find((entry) => !(entry.class in families))
  if (unknown) throw new Error(`generate-reference: describe the class ${unknown.class} in families`)
  const used = Object.keys(families).filter((family) =>
    Object.values(codes).some((entry) => entry.class === family),
  )
  return `${introduction}\n${used.map((family) => section(family, codes)).join('\n')}`
}

if (isMain(import.meta)) {
  const { codes } = await loadSource()
  writeFileSync(fromRoot('docs/reference/errors.md'), errorsPage(codes))
  console.log('docs/reference/errors.md')
}
