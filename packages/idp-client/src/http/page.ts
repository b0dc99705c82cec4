import { noStore } from './responses.ts'

/** Constant, so that the policy can contain its hash; a unit test compares the two. */
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

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '')
}

/* A query, a path of this origin, or an absolute web URL: never a script, and never another host by two slashes. */
const LINK = /^(?:\?|\/(?![/\\])|https?:\/\/)/

export function isLink(url: string | undefined): url is string {
  return url !== undefined && LINK.test(url)
}

/** Returns a link, or an empty string for any other URL. */
export function link(url: string | undefined, label: string, className?: string): string {
  if (!isLink(url)) return ''
  const attribute = className === undefined ? '' : ` class="${className}"`
  return `<a${attribute} href="${escapeHtml(url)}">${label}</a>`
}

/** Returns a nonce of 128 random bits for the script of a page. */
export function newNonce(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** An inline script and the nonce that allows it. */
export interface PageScript {
  readonly text: string
  readonly nonce: string
}

export interface Page {
  readonly status: number
  readonly title: string
  readonly sentence: string
  /** Markup below the sentence. */
  readonly rest: string
  /** URL to which the page redirects automatically. */
  readonly refreshUrl?: string | undefined
  readonly script?: PageScript
}

function policy(script: PageScript | undefined): string {
  return [
    "default-src 'none'",
    ...(script ? [`script-src 'nonce-${script.nonce}'`] : []),
    `style-src '${STYLE_HASH}'`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

/** Returns a page that loads nothing, runs at most one script of ours, and cannot be framed or stored. */
export function page({ status, title, sentence, rest, refreshUrl, script }: Page): Response {
  const refresh = refreshUrl && `<meta http-equiv="refresh" content="0;url=${escapeHtml(refreshUrl)}">`
  const text = [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots" content="noindex">',
    refresh ?? '',
    `<title>${title}</title><style>${STYLE}</style></head><body><main><h1>${title}</h1><p>${sentence}</p>`,
    `${rest}</main>`,
    script ? `<script nonce="${escapeHtml(script.nonce)}">${script.text}</script>` : '',
    '</body></html>',
  ].join('')
  const headers = new Headers({
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policy(script),
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
  })
  noStore(headers)
  return new Response(text, { status, headers })
}
