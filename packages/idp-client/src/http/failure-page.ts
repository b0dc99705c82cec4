import type { Code } from '../errors/codes.ts'
import { codes } from '../errors/codes.ts'
import { json as jsonResponse, noStore } from './responses.ts'

export interface Failure {
  readonly status: number
  readonly code: Code
  /** Correlation id that the log carries too. */
  readonly id: string
  /** Answer `{"error":{"code","message"},"id"}` instead of the page. */
  readonly json?: boolean
  /** Links are paths or http(s) URLs of the application; anything else is left out. */
  readonly homeUrl: string
  readonly retryUrl?: string
  /** Where the page takes the browser by itself; the caller makes sure that this happens once. */
  readonly restartUrl?: string
}

interface Wording {
  readonly title: string
  readonly sentence: string
}

type Kind =
  | 'denied'
  | 'stale'
  | 'connect'
  | 'signed-out'
  | 'factor'
  | 'provider'
  | 'configuration'
  | 'request'
  | 'fault'

const wordings: Readonly<Record<Kind, Wording>> = {
  denied: {
    title: 'Login was not completed',
    sentence: 'The login was cancelled, or the login service declined it.',
  },
  stale: {
    title: 'This login is no longer valid',
    sentence: 'It has expired, was used already, or began in another browser. Please log in again.',
  },
  connect: {
    title: 'The account was not connected',
    sentence: 'It was cancelled, or the login service declined it. Please try again from the application.',
  },
  'signed-out': {
    title: 'Please log in first',
    sentence: 'You are not logged in, or as somebody else than when this began.',
  },
  factor: {
    title: 'Please confirm that it is you',
    sentence: 'The login service asks for a further factor before it allows this.',
  },
  provider: {
    title: 'The login service cannot be used right now',
    sentence: 'It did not answer as expected. Please try again in a moment.',
  },
  configuration: {
    title: 'Login is not set up correctly',
    sentence: 'The operator of this application has to correct its settings before you can log in.',
  },
  request: {
    title: 'This address cannot be opened like this',
    sentence: 'The request is incomplete or not allowed. Please start again from the application.',
  },
  fault: {
    title: 'Something went wrong',
    sentence: 'The application could not complete the request. Please try again.',
  },
}

const kinds: Partial<Record<Code, Kind>> = {
  AUTHORIZATION_ERROR: 'denied',
  MISSING_STATE: 'stale',
  UNKNOWN_STATE: 'stale',
  EXPIRED_STATE: 'stale',
  REPLAYED_STATE: 'stale',
  STATE_OTHER_HOST: 'stale',
  SUPERSEDED_STATE: 'stale',
  INVALID_CALLBACK: 'stale',
  FAILED_TO_INITIATE: 'connect',
  FAILED_TO_COMPLETE: 'connect',
  MISSING_SESSION: 'signed-out',
  MFA_REQUIRED: 'factor',
  INVALID_CONFIGURATION: 'configuration',
  BASE_URL_UNKNOWN: 'configuration',
  BASE_URL_NOT_ALLOWED: 'configuration',
  NOT_AVAILABLE: 'configuration',
}

function kindOf({ code, status }: Failure): Kind {
  if (status === 502 || status === 503 || status === 504) return 'provider'
  const known = kinds[code]
  if (known) return known
  if (code === 'AUTHORIZATION_CODE_GRANT_ERROR') return 'stale'
  return status < 500 ? 'request' : 'fault'
}

/** Constant, so that its hash can stand in the policy; a unit test compares the two. */
export const STYLE: string = [
  ':root{color-scheme:light dark;--text:#1c2024;--soft:#60646c;--back:#f7f8fa;--card:#fff;--line:#dfe2e6;--accent:#1f5fd0;--on-accent:#fff}',
  '@media(prefers-color-scheme:dark){:root{--text:#edeef0;--soft:#a6abb3;--back:#121316;--card:#1b1d21;--line:#33363c;--accent:#8ab4ff;--on-accent:#0c1a33}}',
  '*{box-sizing:border-box}',
  'body{margin:0;min-height:100vh;display:grid;place-items:center;padding:1.5rem;background:var(--back);color:var(--text);font:1rem/1.5 system-ui,sans-serif}',
  'main{width:100%;max-width:30rem;padding:2rem;background:var(--card);border:1px solid var(--line);border-radius:.75rem}',
  'h1{margin:0 0 .5rem;font-size:1.375rem;line-height:1.25}',
  'p{margin:0 0 1.25rem}',
  'nav{display:flex;flex-wrap:wrap;gap:.75rem;margin-bottom:1.5rem}',
  'a{padding:.6rem 1.1rem;border:1px solid var(--accent);border-radius:.5rem;color:var(--accent);text-decoration:none}',
  'a.main{background:var(--accent);color:var(--on-accent)}',
  'a:focus-visible{outline:3px solid var(--accent);outline-offset:2px}',
  'small{color:var(--soft);overflow-wrap:anywhere}',
].join('')

export const STYLE_HASH = 'sha256-DP8jez4CJ8Fsqrg9nSXls5hgkUXtb3a3ExMG4jtBZng='

const POLICY = [
  "default-src 'none'",
  `style-src '${STYLE_HASH}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '')
}

/* A path of this origin, or an absolute web address: never a script, and never another host by two slashes. */
const LINK = /^(?:\/(?![/\\])|https?:\/\/)/

function link(url: string | undefined, label: string, className?: string): string {
  if (url === undefined || !LINK.test(url)) return ''
  const attribute = className === undefined ? '' : ` class="${className}"`
  return `<a${attribute} href="${escapeHtml(url)}">${label}</a>`
}

function render(failure: Failure): string {
  const { code, id, homeUrl, retryUrl, restartUrl } = failure
  const { title, sentence } = wordings[kindOf(failure)]
  const restarts = restartUrl !== undefined && LINK.test(restartUrl)
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots" content="noindex">',
    restarts ? `<meta http-equiv="refresh" content="0;url=${escapeHtml(restartUrl)}">` : '',
    `<title>${title}</title><style>${STYLE}</style></head><body><main><h1>${title}</h1><p>${sentence}</p>`,
    restarts ? '<p role="status">Starting the login again…</p>' : '',
    `<nav>${link(restarts ? restartUrl : retryUrl, 'Try again', 'main')}${link(homeUrl, 'Home')}</nav>`,
    `<small>${code} · Reference ${escapeHtml(id)}</small></main></body></html>`,
  ].join('')
}

/**
 * What a person sees when login, callback, connect or logout cannot go on: our own words, a way on, and an id to look
 * for in the log. It loads nothing, runs nothing, cannot be framed, and repeats nothing of the request.
 */
export function failurePage(failure: Failure): Response {
  const { status, code, id } = failure
  if (failure.json) return jsonResponse(status, { error: { code, message: codes[code].message }, id })
  const headers = new Headers({
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': POLICY,
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
  })
  noStore(headers)
  return new Response(render(failure), { status, headers })
}
