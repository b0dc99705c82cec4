// npm run test:docs [-- --screenshots]: visits every page of the built site in Chromium, and uses search, tabs and copy buttons.
import { mkdirSync, statSync } from 'node:fs'
import { chromium } from 'playwright-core'
import { chromiumOptions } from '../../tools/lib/chromium.mjs'
import { filesBelow } from '../../tools/lib/files.mjs'
import { finish } from '../../tools/lib/gate.mjs'
import { eventNames, loadSource } from '../../tools/lib/reference.mjs'
import { fromRoot } from '../../tools/lib/run.mjs'
import { toSitePath } from '../lib/places.mjs'
import { questions } from './questions.mjs'
import { serveSite } from './server.mjs'
import { checkCopy, checkSearch, checkTabs } from './use.mjs'
import { deadLinks, desktop, open, phone, visit, watch } from './visit.mjs'

/** Pages on which axe also checks the navigation, and code of many languages. */
const samples = ['', 'faq', 'guides/quick-start', 'guides/hosts/nuxt', 'guides/deploy/nginx']

const largestPicture = 150_000

async function newPage(browser, site) {
  const context = await browser.newContext({
    viewport: desktop,
    colorScheme: 'light',
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  const page = await context.newPage()
  return { page, watcher: watch(page, new URL(site.url)) }
}

/** Visits all pages in a few tabs. */
async function visitAll(browser, site, urls) {
  const left = [...urls]
  const visits = []
  const work = async () => {
    const tab = await newPage(browser, site)
    for (let url = left.shift(); url !== undefined; url = left.shift())
      visits.push(await visit(tab, url, samples.includes(url.slice(site.url.length))))
  }
  await Promise.all([work(), work()])
  return visits
}

async function shoot(page, name) {
  const path = fromRoot(`docs/images/${name}.png`)
  await page.evaluate(() => document.fonts.ready)
  await page.screenshot({ path, animations: 'disabled', caret: 'hide' })
  const { size } = statSync(path)
  console.log(`${name}.png ${Math.round(size / 1000)} kB`)
  if (size > largestPicture) throw new Error(`${name}.png is larger than ${largestPicture / 1000} kB`)
}

/** Pictures of the start page, of the search, and of a guide on a phone. */
async function takeScreenshots(page, site) {
  mkdirSync(fromRoot('docs/images'), { recursive: true })
  await open(page, site.url)
  await shoot(page, 'site-start')
  await page.keyboard.press('Control+k')
  await page.locator('.VPLocalSearchBox input').fill('refresh token rotation')
  await page.locator('.VPLocalSearchBox .result').first().waitFor()
  await shoot(page, 'site-search')
  await page.setViewportSize(phone)
  await open(page, `${site.url}guides/protecting`)
  await shoot(page, 'site-guide-phone')
}

/** Names that log lines and other pages link to, and that have no anchor. */
async function missingAnchors(visits, site) {
  const source = await loadSource()
  const wanted = {
    'guides/troubleshooting': Object.keys(source.remedies),
    'reference/errors': Object.keys(source.codes),
    'reference/events': eventNames(source),
  }
  return Object.entries(wanted).flatMap(([path, names]) => {
    const visited = visits.find(({ url }) => url === site.url + path)
    const lacking = names.filter((name) => visited && !visited.ids.includes(name))
    return lacking.map((name) => `${path} has no anchor ${name}`)
  })
}

/** Visits the pages, or those whose address contains one of the words of the command line. */
async function test(browser, site) {
  const words = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
  const pages = filesBelow('docs', (path) => path.endsWith('.md')).map((path) => path.slice('docs/'.length))
  const urls = pages.map((page) => site.url.slice(0, -1) + toSitePath(page))
  const isChosen = (url) => words.length === 0 || words.some((word) => url.includes(word))
  const visits = await visitAll(browser, site, urls.filter(isChosen))
  const { page, watcher } = await newPage(browser, site)
  const problems = [
    ...visits.flatMap(({ url, problems }) => problems.map((problem) => `${url} ${problem}`)),
    ...(words.length === 0 ? deadLinks(visits, site) : []),
    ...(await missingAnchors(visits, site)),
    ...(await checkSearch(page, site.url, questions)),
    ...(await checkCopy(page, `${site.url}guides/tokens`)),
    ...(await checkTabs(page, [`${site.url}guides/protecting`, `${site.url}guides/step-up`], 'Express')),
    ...watcher.takeProblems(),
  ]
  if (process.argv.includes('--screenshots')) await takeScreenshots(page, site)
  const links = visits.reduce((sum, each) => sum + each.links.length, 0)
  return { problems, summary: `${visits.length} pages, ${links} links, ${questions.length} questions` }
}

const site = await serveSite(fromRoot('site/dist'))
const browser = await chromium.launch(chromiumOptions())
try {
  const { problems, summary } = await test(browser, site)
  finish(problems, summary)
} finally {
  await browser.close()
  await site.stop()
}
