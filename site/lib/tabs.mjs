// `<!-- tabs -->`, then paragraphs that are only bold text, each followed by what it is about, then `<!-- end of tabs -->`: one tab
// each on the site. On the forge it is a sequence with bold labels.

const MARKER = /^<!-- (tabs|end of tabs) -->\s*$/

const markerOf = (token) => (token.type === 'html_block' ? MARKER.exec(token.content)?.[1] : undefined)

/** The label that a paragraph is, where its only content is bold text. */
function labelAt(tokens, at) {
  if (tokens[at]?.type !== 'paragraph_open') return undefined
  const parts = (tokens[at + 1].children ?? []).filter(
    ({ type, content }) => type !== 'text' || content !== '',
  )
  const isBold = parts.length === 3 && parts[0].type === 'strong_open' && parts[2].type === 'strong_close'
  return isBold ? parts[1].content : undefined
}

/** The tabs of a sequence of blocks: their labels and tokens. */
function splitTabs(tokens) {
  const tabs = []
  for (let at = 0; at < tokens.length; at += 1) {
    const label = labelAt(tokens, at)
    if (label === undefined) {
      if (tabs.length === 0) throw new Error('a group of tabs begins with a bold label')
      tabs.at(-1).tokens.push(tokens[at])
    } else {
      tabs.push({ label, tokens: [] })
      at += 2
    }
  }
  return tabs
}

const escapeHtml = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

/** The tokens of a group, in the markup of a code group of VitePress, whose script switches the tabs. */
function toGroup(tabs, number, toHtml) {
  const name = `tabs-${number}`
  const inputs = tabs.map(({ label }, at) => {
    const id = `${name}-${at}`
    const checked = at === 0 ? ' checked' : ''
    const text = escapeHtml(label)
    return `<input type="radio" name="${name}" id="${id}" data-label="${text}"${checked}><label for="${id}">${text}</label>`
  })
  return [
    toHtml(
      `<div class="vp-code-group" role="group" aria-label="Choose"><div class="tabs">${inputs.join('')}</div><div class="blocks">\n`,
    ),
    ...tabs.flatMap(({ tokens }, at) => [
      toHtml(`<div class="tab-content${at === 0 ? ' active' : ''}">\n`),
      ...tokens,
      toHtml('</div>\n'),
    ]),
    toHtml('</div></div>\n'),
  ]
}

/** A plugin of markdown-it. */
export function tabs(md) {
  md.core.ruler.push('tabs', (state) => {
    const result = []
    let group = null
    let count = 0
    const toHtml = (content) => {
      const token = new state.Token('html_block', '', 0)
      token.content = content
      return token
    }
    for (const token of state.tokens) {
      const marker = markerOf(token)
      if (marker === 'tabs') group = []
      else if (marker !== undefined) {
        if (group === null) throw new Error('tabs end that have not begun')
        count += 1
        result.push(...toGroup(splitTabs(group), count, toHtml))
        group = null
      } else (group ?? result).push(token)
    }
    if (group !== null) throw new Error('a group of tabs has no end')
    state.tokens = result
  })
}
