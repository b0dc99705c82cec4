// node tools/generate-reference.mjs: writes the pages of docs/reference that follow from the source alone.
import { writeFileSync } from 'node:fs'
import { readText } from './lib/files.mjs'
import { optionDocs } from './lib/option-docs.mjs'
import { loadSource } from './lib/reference.mjs'
import { fromRoot, isMain } from './lib/run.mjs'

const families = {
  InvalidConfigurationError: 'Options or environment variables are missing, invalid or contradictory.',
  CallbackError: 'A login attempt failed. It reaches `onCallback` as `context.error`.',
  DiscoveryError: "The provider's metadata or keys could not be loaded. Failures are never cached.",
  OAuthError:
    'The provider rejected a request, failed or could not be reached. Usually the `cause` of another error. It has `error`, ' +
    '`status`, `description` and `retryAfter` if the response had them; `transient` tells whether the same request may succeed later.',
  AccessTokenError:
    'No access token is available. The `cause` of `FAILED_TO_REFRESH_TOKEN` is an `OAuthError` or a `DiscoveryError`.',
  AccessTokenForConnectionError:
    'No access token of a connected account is available. The `cause` of `FAILED_TO_EXCHANGE_REFRESH_TOKEN` is an ' +
    '`OAuthError` or a `DiscoveryError`.',
  CustomTokenExchangeError:
    'A token was not exchanged (RFC 8693). All codes except `EXCHANGE_FAILED` are about the options; no request was sent.',
  BackchannelAuthenticationError: '`getTokenByBackchannelAuth` returned no tokens.',
  LogoutTokenError:
    'A logout token of the provider was rejected. Occurs only on the back-channel logout route; the message names the failed ' +
    'check.',
  MfaRequiredError:
    'The provider requires another factor before it issues the token. It has the encrypted `mfa_token` and, if the provider ' +
    'returned them, `mfa_requirements`; the `cause` is the `OAuthError`.',
  MfaError:
    'A step of a multi-factor authentication failed. If a request was sent to the provider, the `cause` is an `OAuthError` or ' +
    'a `DiscoveryError`.',
  ConnectAccountError:
    'The account was not connected. The `cause` of `FAILED_TO_INITIATE` and `FAILED_TO_COMPLETE` is an `AccountApiError`, an ' +
    '`AccessTokenError`, an `OAuthError` or a `DiscoveryError`.',
  ConnectedAccountsError:
    'The connected accounts could not be listed, or one could not be disconnected. The `cause` is as in `ConnectAccountError`.',
  AccountApiError:
    "The provider's account API rejected a request; the `cause` of the two classes above. `failure` has the `status` and, as " +
    'untrusted text of the provider, `type`, `title`, `detail` and `validationErrors`.',
  SessionStoreError: 'The session could not be stored. It has `bytes` and `fields`, the sizes.',
  IdpError: 'The base class of all errors, and the class of errors without a class of their own.',
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

Every error has a \`code\` from the tables below. Rely on codes, not on texts. Check the code with \`isIdpError\`, or the class
with \`instanceof\`; every entry exports both. They work across several copies of the package in one process and for the
errors of the browser helpers. \`instanceof\` with your own subclass checks the prototype chain, as usual.

\`\`\`ts
import { InvalidConfigurationError, isIdpError } from 'idp-client/errors'

export function explain(error: unknown): string {
  if (isIdpError(error, 'MISSING_SESSION')) return 'Please log in.'
  if (error instanceof InvalidConfigurationError) return 'Login is not set up yet.'
  if (isIdpError(error)) return \`Login is not possible (\${error.code}).\`
  throw error
}
\`\`\`

Messages are written by this library. They never contain a token, a code, a cookie or text of a request. The provider's own
error is the \`cause\`; its \`description\` is untrusted text, so escape it before you show it.

"Status" is the HTTP status of a route's response with this error. The cause may change it: if the provider failed or could
not be reached, it is 502, 503 (the provider responded 429 or 503) or 504 (timeout). If the account API rejected a request,
it is the status of its response. If the provider no longer accepts an authorization code, it is 400. For the bodies see
[routes](routes.md#bodies-of-errors).
`

const escaped = (text) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;')

const row = (cells) => `|${cells.map((cell) => (cell === '' ? ' ' : ` ${cell} `)).join('|')}|`

function section(family, codes) {
  const entries = Object.entries(codes).filter(([, entry]) => entry.class === family)
  const also = (shared[family] ?? []).map((code) => `\`${code}\``)
  return [
    `## ${family}`,
    '',
    families[family] + (also.length > 0 ? ` Also used with ${also.join(' and ')}.` : ''),
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

const units = { seconds: 's', milliseconds: 'ms', bytes: 'bytes' }

/** `a`, `b` or `c` */
export const choices = (values) =>
  values
    .map((value) => `\`${value}\``)
    .join(', ')
    .replace(/, (?=[^,]*$)/, ' or ')

function typeCell({ kind, max, min, unit, values }) {
  if (kind === 'number') return `number, ${units[unit]} (${min} to ${max})`
  if (kind === 'group') return 'object'
  return kind === 'one of' ? choices(values) : kind
}

function defaultCell(path, row, told) {
  if (row.kind === 'group') return 'see its own rows'
  if (row.default === undefined) return told ?? 'none'
  if (told === String(row.default)) return `\`${told}\``
  throw new Error(`config/options.ts: write "@default ${row.default}" in the docstring of ${path}`)
}

const documentation = 'https://github.com/idp-client/idp-client/blob/main/docs/'

/** Links of docstrings are URLs, since editors show them; those of a page are relative. */
const withRelativeLinks = (text) =>
  text
    .replaceAll(`](${documentation}reference/options.md#`, '](#')
    .replaceAll(`](${documentation}reference/`, '](')
    .replaceAll(`](${documentation}`, '](../')

function optionRow(path, option, docs) {
  const doc = docs.get(path)
  if (!doc?.text) throw new Error(`config/options.ts: ${path} has no docstring`)
  if (doc.tags.env !== option.variable) {
    throw new Error(`config/options.ts: the docstring of ${path} names the variable ${doc.tags.env}`)
  }
  return row([
    `\`${path}\``,
    typeCell(option),
    defaultCell(path, option, doc.tags.default),
    option.variable ? `\`${option.variable}\`` : '',
    escaped(withRelativeLinks(doc.text)),
  ])
}

/** A marker names the first option of the table that follows it; the table ends before the first option of the next one. */
const table = /(<!-- Options from `(.+?)`, .*-->\n\n)(?:\|.*\n)*/g

/** The page about options with its tables as they follow from the rows and the docstrings. */
export function optionsPage(text, { optionRows }) {
  const docs = optionDocs(
    readText('packages/idp-client/src/config/options.ts'),
    (path) => optionRows[path]?.kind === 'group',
  )
  const paths = Object.keys(optionRows)
  const starts = [...text.matchAll(table)].map(([, , first]) => paths.indexOf(first))
  if (starts[0] !== 0 || starts.some((start, index) => index > 0 && start <= starts[index - 1])) {
    throw new Error(
      'docs/reference/options.md: its tables must begin with options in the order of config/option-rows.ts',
    )
  }
  return text.replace(table, (_all, marker, first) => {
    const start = paths.indexOf(first)
    const end = starts.find((other) => other > start)
    const rows = paths.slice(start, end).map((path) => optionRow(path, optionRows[path], docs))
    return [
      `${marker}${row(['Option', 'Type', 'Default', 'Variable', 'Effect'])}`,
      '|---|---|---|---|---|',
      ...rows,
      '',
    ].join('\n')
  })
}

if (isMain(import.meta)) {
  const source = await loadSource()
  const pages = {
    'docs/reference/errors.md': () => errorsPage(source.codes),
    'docs/reference/options.md': (text) => optionsPage(text, source),
  }
  for (const [path, page] of Object.entries(pages)) {
    writeFileSync(fromRoot(path), page(readText(path)))
    console.log(path)
  }
}
