import type { DevProvider } from 'idp-dev-provider'
import type { Locator, Page } from 'playwright-core'
import { openSignedIn } from './browser-profile.ts'

/** The page with the transfers, as a user sees it. */

export const dialogue = (page: Page): Locator => page.getByRole('dialog')

export const receipt = (page: Page): Locator => page.getByRole('region', { name: 'Transfer done' })

/** Signs in on the way to the page. */
export async function openTransfer(page: Page, siteUrl: string, user: string): Promise<void> {
  await openSignedIn(page, `${siteUrl}/transfer`, user)
  await page.getByRole('heading', { level: 1, name: 'Transfer money' }).waitFor()
}

export type Way = 'On this page' | 'In a popup' | 'At the provider'

/** Fills in the form and presses the button. */
export async function pressTransfer(page: Page, way: Way = 'On this page'): Promise<void> {
  await page.getByRole('textbox', { name: 'Amount' }).fill('25.50')
  await page.getByRole('radio', { name: way }).check()
  await page.getByRole('button', { name: 'Transfer', exact: true }).click()
}

/** Chooses a factor in the dialogue. */
export async function choose(page: Page, name: string): Promise<void> {
  await dialogue(page).getByRole('button', { name }).click()
}

export async function enterCode(page: Page, code: string): Promise<void> {
  await dialogue(page).getByRole('textbox', { name: 'Code' }).fill(code)
  await dialogue(page).getByRole('button', { name: 'Confirm' }).click()
}

/** The secret that stands below the QR code. */
export async function readSecret(page: Page): Promise<string> {
  const text = await dialogue(page).getByText('Secret:').textContent()
  return (text ?? '').replace(/^Secret:|\s/g, '')
}

/** The latest code that was sent to a user. */
export function codeFor(provider: DevProvider, user: string): string {
  return provider.mfa.inbox(user)[0]?.bindingCode ?? ''
}

/** A code that is not the right one. */
export function wrong(code: string): string {
  return code.replace(/\d$/, (digit) => String((Number(digit) + 1) % 10))
}

/** Every token that the provider hands out from now on, its own `mfa_token` included. */
export function collectTokens(provider: DevProvider): ReadonlySet<string> {
  const tokens = new Set<string>()
  provider.rewrite('token', (json) => {
    for (const name of ['access_token', 'id_token', 'refresh_token', 'mfa_token']) {
      if (typeof json[name] === 'string') tokens.add(json[name])
    }
  })
  return tokens
}
