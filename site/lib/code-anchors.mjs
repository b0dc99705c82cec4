// Each error code, event, remedy and variable has an anchor of its name: headings that end with it in brackets, and rows of tables
// that begin with it. The first place on a page has it.

const NAME = /^[A-Z][A-Z0-9_]{5,}$/

const codesOf = (inline) =>
  (inline.children ?? []).filter(({ type, content }) => type === 'code_inline' && NAME.test(content))

/** The name that a heading ends with: "Wrong client secret (`CLIENT_REFUSED`)". */
const ofHeading = (inline) => (/\(`[A-Z0-9_]+`\)$/.test(inline.content) ? codesOf(inline).slice(-1) : [])

/** The names that a cell begins with. */
const ofCell = (inline) => (inline.content.startsWith('`') ? codesOf(inline) : [])

/** A plugin of markdown-it. */
export function codeAnchors(md) {
  md.core.ruler.push('code_anchors', (state) => {
    const seen = new Set()
    const mark = (inline, codes) => {
      const names = codes.map(({ content }) => content).filter((name) => !seen.has(name))
      for (const name of names) {
        seen.add(name)
        const token = new state.Token('html_inline', '', 0)
        token.content = `<span id="${name}" class="code-anchor"></span>`
        inline.children.unshift(token)
      }
    }
    for (const [at, token] of state.tokens.entries()) {
      const inline = state.tokens[at + 1]
      if (token.type === 'heading_open') mark(inline, ofHeading(inline))
      if (token.type === 'td_open' && state.tokens[at - 1].type === 'tr_open') mark(inline, ofCell(inline))
    }
  })
}
