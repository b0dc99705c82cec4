import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitepress'
import { CONTENTS, parseContents, toTitle } from '../../tools/lib/contents.mjs'
import { filesBelow, readText } from '../../tools/lib/files.mjs'
import { toAnchor } from '../../tools/lib/markdown.mjs'
import { llmsFiles } from '../lib/llms.mjs'
import { plugins } from '../lib/markdown.mjs'
import { base, repository, toSitePage } from '../lib/places.mjs'
import { toSidebar } from '../lib/sidebar.mjs'

const contents = parseContents(readText(CONTENTS))
const pages = filesBelow('docs', (path) => path.endsWith('.md')).map((path) => path.slice('docs/'.length))
const titles = new Map(pages.map((page) => [page, toTitle(readText(`docs/${page}`))]))

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="6" fill="none" stroke="#5672cd" stroke-width="3"/></svg>'

/** Pages lie outside this package, where the server build does not find Vue. */
const vueOfThisPackage = {
  name: 'vue-of-this-package',
  enforce: 'pre',
  resolveId: (id, _importer, { ssr }) =>
    ssr && /^vue(?:\/server-renderer)?$/.test(id) ? { id, external: true } : null,
}

export default defineConfig({
  title: 'IdpClient',
  description: 'OpenID Connect login, sessions and tokens for server-side TypeScript',
  lang: 'en',
  base,
  srcDir: '../docs',
  outDir: 'dist',
  cacheDir: '../.cache/vitepress',
  cleanUrls: true,
  head: [['link', { rel: 'icon', href: `data:image/svg+xml,${encodeURIComponent(icon)}` }]],
  ignoreDeadLinks: 'localhostLinks',
  rewrites: Object.fromEntries(
    pages.filter((page) => page.endsWith('README.md')).map((page) => [page, toSitePage(page)]),
  ),
  markdown: {
    anchor: { slugify: toAnchor },
    // Comments of these themes have enough contrast.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config: plugins,
  },
  themeConfig: {
    nav: [
      { text: 'Quick start', link: '/guides/quick-start' },
      { text: 'Troubleshooting', link: '/guides/troubleshooting' },
      { text: 'FAQ', link: '/faq' },
    ],
    sidebar: toSidebar(contents, titles),
    outline: { level: [2, 3] },
    search: {
      provider: 'local',
      options: {
        miniSearch: { searchOptions: { fuzzy: 0.2, prefix: true, boost: { title: 4, titles: 2, text: 1 } } },
      },
    },
    socialLinks: [{ icon: 'github', link: repository }],
    editLink: { pattern: `${repository}/edit/main/docs/:path`, text: 'Edit this page' },
    externalLinkIcon: false,
  },
  vite: { plugins: [vueOfThisPackage] },
  buildEnd({ outDir }) {
    for (const [name, text] of Object.entries(llmsFiles(contents, readText)))
      writeFileSync(join(outDir, name), text)
  },
})
