import type { Page } from 'playwright-core'

/** Runs in the browser, so it may use nothing from around it. */
function findProblems(): string[] {
  const problems: string[] = []
  const all = (selector: string): Element[] => [...document.querySelectorAll(selector)]
  const expectOne = (what: string, selector: string): void => {
    const count = all(selector).length
    if (count !== 1) problems.push(`${count} × ${what}`)
  }
  const labelText = (control: Element): string => {
    const labels = 'labels' in control ? [...(control.labels as NodeListOf<HTMLLabelElement>)] : []
    return labels.map((label) => label.textContent).join('')
  }
  const getName = (control: Element): string => {
    const references = (control.getAttribute('aria-labelledby') ?? '').split(/\s+/).filter(Boolean)
    const own = control.matches('input, select, textarea') ? '' : control.textContent
    const parts = [
      control.getAttribute('aria-label'),
      ...references.map((id) => document.getElementById(id)?.textContent),
      labelText(control),
      own,
    ]
    return parts.join('').trim()
  }

  if (!document.documentElement.lang) problems.push('the document names no language')
  if (document.title.trim() === '') problems.push('the document has no title')
  expectOne('h1', 'h1')
  expectOne('main', 'main')
  for (const control of all(
    'a[href], button, input:not([type=hidden]), select, textarea, nav, fieldset, meter',
  )) {
    if (control.matches('nav') && all('nav').length === 1) continue
    if (getName(control) === '') problems.push(`no name: ${control.outerHTML.slice(0, 80)}`)
  }
  for (const image of all('img:not([alt])')) problems.push(`no alt: ${image.outerHTML.slice(0, 80)}`)
  for (const row of all('tr')) if (!row.querySelector('th')) problems.push('a table row without a heading')
  let previous = 0
  for (const heading of all('h1, h2, h3, h4')) {
    const level = Number(heading.tagName.slice(1))
    if (level > previous + 1) problems.push(`${heading.tagName} after level ${previous}`)
    previous = level
  }
  const ids = all('[id]').map(({ id }) => id)
  for (const id of new Set(ids.filter((id, at) => ids.indexOf(id) !== at))) problems.push(`id twice: ${id}`)
  return problems
}

/** Returns the accessibility problems of the current page, as far as its markup shows them. */
export function accessibilityProblems(page: Page): Promise<string[]> {
  return page.evaluate(findProblems)
}

/**
 * Presses the Tab key until the element, which may still be streamed, has the focus.
 *
 * @throws when it is not reached within 40 stops
 */
export async function tabTo(page: Page, selector: string): Promise<void> {
  // React may reveal streamed content after the load event: until then the stops would be used up.
  await page.locator(selector).first().waitFor()
  const stops: string[] = []
  while (stops.length < 40) {
    await page.keyboard.press('Tab')
    const stop = await page.evaluate((wanted) => {
      const active = document.activeElement
      return active?.matches(wanted) ? null : (active?.cloneNode() as Element | undefined)?.outerHTML
    }, selector)
    if (stop === null) return
    stops.push(stop ?? 'nothing')
  }
  throw new Error(`the Tab key does not reach ${selector}, but ${[...new Set(stops)].join(' ')}`)
}
