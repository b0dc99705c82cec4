import { codeAnchors } from './code-anchors.mjs'
import { diagrams } from './diagrams.mjs'
import { toSiteLink } from './places.mjs'
import { tabs } from './tabs.mjs'

/** Links of the forge become those of the site, before VitePress checks them. */
function links(md) {
  const { link_open: render } = md.renderer.rules
  md.renderer.rules.link_open = (...args) => {
    const [tokens, at, , env] = args
    const href = tokens[at].attrGet('href')
    if (href !== null) tokens[at].attrSet('href', toSiteLink(env.relativePath, href))
    return render(...args)
  }
}

/** Pages are no templates: braces of Vue are text. */
function plainBraces(md) {
  for (const name of ['text', 'code_inline']) {
    const render = md.renderer.rules[name]
    md.renderer.rules[name] = (...args) => render(...args).replaceAll('{{', '&#123;&#123;')
  }
}

/** Tables scroll sideways on phones, also by the keyboard; an empty cell is no heading. */
function accessibleTables(md) {
  md.renderer.rules.table_open = () => '<table tabindex="0">\n'
  md.core.ruler.push('table_headings', ({ tokens }) => {
    for (const [at, token] of tokens.entries())
      if (token.type === 'th_open' && tokens[at + 1].content === '') {
        token.tag = 'td'
        tokens[at + 2].tag = 'td'
      }
  })
}

/** Adds the plugins of markdown-it. */
export function plugins(md) {
  for (const plugin of [tabs, codeAnchors, diagrams, links, plainBraces, accessibleTables]) plugin(md)
}
