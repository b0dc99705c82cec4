// A reader searches, copies code and chooses a tab.
import { open } from './visit.mjs'

const results = '.VPLocalSearchBox .result'

/** The addresses of the first two results, relative to the site. */
async function search(page, question, start) {
  const input = page.locator('.VPLocalSearchBox input')
  // Results of the question before would be taken for those of this one.
  await input.fill('')
  await page.locator(results).first().waitFor({ state: 'detached' })
  await input.fill(question)
  await page.locator(`${results}, .VPLocalSearchBox .no-results`).first().waitFor()
  const links = await page.locator(results).evaluateAll((all) => all.slice(0, 2).map(({ href }) => href))
  return links.map((link) => link.slice(start.length - 1))
}

const isFound = (found, wanted) =>
  found.some((link) => (wanted.includes('#') ? link === wanted : link.split('#')[0] === wanted))

/** Problems of the search: questions whose page is not among the first two results. */
export async function checkSearch(page, start, questions) {
  await open(page, start)
  await page.keyboard.press('Control+k')
  const problems = []
  for (const [question, ...wanted] of questions) {
    const found = await search(page, question, start)
    if (!wanted.some((each) => isFound(found, each)))
      problems.push(
        `search: "${question}" finds ${found.join(' and ') || 'nothing'}, not ${wanted.join(' or ')}`,
      )
  }
  return problems
}

/** Problems of the button that copies a snippet. */
export async function checkCopy(page, url) {
  await open(page, url)
  const block = page.locator('.vp-doc div[class*=language-]').first()
  await block.hover()
  await block.locator('button.copy').click()
  await block.locator('button.copy.copied').waitFor()
  const copied = await page.evaluate(() => navigator.clipboard.readText())
  const shown = await block.locator('code').innerText()
  return copied.trim() === shown.trim() && copied !== ''
    ? []
    : [`copy: ${JSON.stringify(copied)} is not what is shown`]
}

const shownTab = (page) => page.locator('.vp-code-group input:checked').first().getAttribute('data-label')

/** Problems of tabs: a choice holds for all groups, and on the next page. */
export async function checkTabs(page, [first, second], label) {
  await open(page, first)
  await page.locator('.vp-code-group label', { hasText: label }).first().click()
  const clicked = await page.locator('.vp-code-group .tab-content.active pre').first().innerText()
  await open(page, second)
  const kept = await shownTab(page)
  const scrolled = await page.evaluate(() => scrollY)
  return [
    ...(clicked.includes(label.toLowerCase()) ? [] : [`tabs: a click on ${label} does not show it`]),
    ...(scrolled === 0 ? [] : [`tabs: the next page opens at ${scrolled} px`]),
    ...(kept === label ? [] : [`tabs: ${kept} is shown on the next page, not ${label}`]),
  ]
}
