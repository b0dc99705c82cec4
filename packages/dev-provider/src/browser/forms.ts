export interface Form {
  readonly action: string
  readonly fields: Readonly<Record<string, string>>
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' }

function decodeEntities(text: string): string {
  return text
    .replace(/&#(\d+);/g, (_match, code: string) => String.fromCodePoint(Number(code)))
    .replace(/&#x([\da-f]+);/gi, (_match, code: string) => String.fromCodePoint(Number.parseInt(code, 16)))
    .replace(/&(amp|lt|gt|quot);/g, (_match, name: string) => ENTITIES[name] ?? '')
}

function attribute(tag: string, name: string): string | undefined {
  const value = new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1]
  return value === undefined ? undefined : decodeEntities(value)
}

/** Text of the element with that id. */
export function findText(html: string, id: string): string | undefined {
  const text = new RegExp(`\\sid="${id}"[^>]*>([^<]*)<`).exec(html)?.[1]
  return text === undefined ? undefined : decodeEntities(text)
}

/** The first form of a page with its inputs; the pages in question are the provider's own. */
export function firstForm(html: string, base: string): Form | undefined {
  const [, open, content] = /<form\b([^>]*)>([\s\S]*?)<\/form>/.exec(html) ?? []
  if (open === undefined || content === undefined) return undefined
  const fields: Record<string, string> = {}
  for (const [input] of content.matchAll(/<input\b[^>]*>/g)) {
    const name = attribute(input, 'name')
    if (name !== undefined) fields[name] = attribute(input, 'value') ?? ''
  }
  // Left as it is when absolute: callers compare it byte for byte.
  const action = attribute(open, 'action') ?? base
  return { action: URL.canParse(action) ? action : new URL(action, base).href, fields }
}
