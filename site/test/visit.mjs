// A visit of one page: what the browser reports, what the page links to, and what axe finds.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Ends a visit that hangs. */
const hang = 120_000

export const desktop = { width: 1280, height: 800 }
export const phone = { width: 390, height: 844 }

/** Collects what no page may do: console errors, exceptions, failed requests, and requests to other hosts. */
export function watch(page, { origin }) {
  const problems = []
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(`console: ${message.text()}`)
  })
  page.on('pageerror', (error) => problems.push(`exception: ${error.message}`))
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== origin && !request.url().startsWith('data:'))
      problems.push(`external request: ${request.url()}`)
  })
  page.on('response', (response) => {
    if (response.status() >= 400) problems.push(`status ${response.status()}: ${response.url()}`)
  })
  return { takeProblems: () => problems.splice(0) }
}

/** Opens a page and waits until its scripts run. */
export async function open(page, url) {
  await page.goto(url, { timeout: hang })
  const isMounted = () => document.querySelector('#app')?.__vue_app__ !== undefined
  await page.waitForFunction(isMounted, undefined, { timeout: hang })
}

/** Runs in the browser: the addresses of all links, and all anchors. */
function collectLinks() {
  return {
    links: [...document.querySelectorAll('a[href]')].map(({ href }) => href),
    ids: [...document.querySelectorAll('[id]')].map(({ id }) => id),
  }
}

async function findViolations(page, ...given) {
  const violations = await page.evaluate(
    async (args) => (await globalThis.axe.run(...args)).violations,
    given,
  )
  return violations.map(
    ({ id, nodes }) =>
      `axe ${id}: ${nodes.length} × ${nodes[0].target.join(' ')} ${nodes[0].html.slice(0, 120)}`,
  )
}

/** The same on all pages: checked on some, since colors of hundreds of links and words of code take most of the time. */
const repeated = { exclude: ['.VPNav', '.VPSidebar', '.VPLocalNav', 'pre'].map((selector) => [selector]) }

/** Problems of axe in the light theme, and those of colors in the dark one. */
async function checkAccessibility(page, isSample) {
  const context = isSample ? { include: [['html']] } : repeated
  await page.evaluate(axe)
  // Colors would be read in the middle of a transition.
  await page.addStyleTag({ content: '* { transition: none !important }' })
  const light = await findViolations(page, context)
  await page.evaluate(() => document.documentElement.classList.add('dark'))
  const dark = await findViolations(page, context, { runOnly: ['color-contrast'] })
  await page.evaluate(() => document.documentElement.classList.remove('dark'))
  return [...light, ...dark.map((problem) => `dark: ${problem}`)]
}

async function checkPhone(page) {
  await page.setViewportSize(phone)
  const [width, wide] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth])
  await page.setViewportSize(desktop)
  return width > wide ? [`phone: ${width} px wide, the viewport has ${wide}`] : []
}

/** Visits a page; `links` and `ids` are those that it has. On a sample also navigation and code are checked. */
export async function visit({ page, watcher }, url, isSample) {
  try {
    await open(page, url)
  } catch (error) {
    return { url, links: [], ids: [], problems: [...watcher.takeProblems(), error.message] }
  }
  const { links, ids } = await page.evaluate(collectLinks)
  const problems = [
    ...(await checkAccessibility(page, isSample)),
    ...(await checkPhone(page)),
    ...watcher.takeProblems(),
  ]
  return { url, links, ids, problems }
}

/** Links within the site that lead to no page or to no anchor. */
export function deadLinks(visits, { url: start }) {
  const ids = new Map(visits.map((each) => [each.url, new Set(each.ids)]))
  return visits.flatMap(({ url, links }) =>
    [...new Set(links)].flatMap((link) => {
      if (!link.startsWith(start)) return []
      const [target, hash = ''] = link.split('#')
      const anchors = ids.get(target)
      if (anchors === undefined) return [`${url} links to ${link}: no such page`]
      return hash === '' || anchors.has(decodeURIComponent(hash))
        ? []
        : [`${url} links to ${link}: no such anchor`]
    }),
  )
}
