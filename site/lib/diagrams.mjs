// Fences `mermaid` become SVG when the site is built, in the colors of its theme. The lines `accTitle` and `accDescr` are their
// text for screen readers, as on the forge.
import { renderMermaidSVG } from 'beautiful-mermaid'

const LINE = /^\s*acc(Title|Descr):\s*(.+)\n/gm

const escapeHtml = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** Returns the figure of a diagram; `id` makes its names unique on the page. */
export function toFigure(code, id) {
  const texts = Object.fromEntries([...code.matchAll(LINE)].map(([, name, text]) => [name, text.trim()]))
  if (!texts.Title || !texts.Descr) throw new Error('a diagram needs accTitle and accDescr')
  const svg = renderMermaidSVG(code.replace(LINE, ''))
    // The theme has the colors: the style would load a font from another host.
    .replace(/<style>.*?<\/style>/s, '')
    .replace(/(?<=^<svg[^>]*) style="[^"]*"/, '')
    .replaceAll(/(?<=\bid="|url\(#)/g, `${id}-`)
    .replace(/<svg /, `<svg role="img" aria-labelledby="${id}-title ${id}-text" `)
    .replace(
      /(<svg[^>]*>)/,
      `$1<title id="${id}-title">${escapeHtml(texts.Title)}</title><desc id="${id}-text">${escapeHtml(texts.Descr)}</desc>`,
    )
  return `<figure class="diagram" tabindex="0" v-pre>${svg}</figure>\n`
}

/** A plugin of markdown-it. */
export function diagrams(md) {
  const { fence } = md.renderer.rules
  md.renderer.rules.fence = (tokens, at, ...rest) =>
    tokens[at].info.trim() === 'mermaid'
      ? toFigure(tokens[at].content, `diagram-${at}`)
      : fence(tokens, at, ...rest)
}
