import type { DevProvider } from 'idp-dev-provider'
import { startDevProvider } from 'idp-dev-provider'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startChromium } from './fixtures/support/chromium.ts'
import { accessibilityProblems } from './support/accessibility.ts'
import type { BrowserProfile } from './support/browser-profile.ts'
import { enterAs, newProfile } from './support/browser-profile.ts'
import type { DemoSite } from './support/demo-site.ts'
import { startDemo } from './support/demo-site.ts'
import type { SentBody } from './support/https-front.ts'
import {
  choose,
  codeFor,
  collectTokens,
  dialogue,
  enterCode,
  openTransfer,
  pressTransfer,
  readSecret,
  receipt,
  wrong,
} from './support/money.ts'

let provider: DevProvider
let browser: Browser
let site: DemoSite
let profile: BrowserProfile
let tokens: ReadonlySet<string>
let sent: readonly SentBody[]

beforeAll(async () => {
  provider = await startDevProvider({ https: true, host: '127.0.0.1' })
  tokens = collectTokens(provider)
  site = await startDemo(provider)
  // Playwright turns the back/forward cache off, which people have.
  browser = await startChromium({ provider, ignoreDefaultArgs: ['--disable-back-forward-cache'] })
})

beforeEach(() => {
  for (const user of ['alice', 'bob']) provider.mfa.reset(user)
})

afterEach(() => Promise.all([profile?.leave(), site?.complaints.settle()]))

afterAll(async () => {
  await browser?.close()
  await provider?.stop()
  await site?.stop()
})

const at = (path: string): string => site.url + path
const alert = (page: Page, text: string | RegExp) => page.getByRole('alert').filter({ hasText: text })
const proofs = (): number =>
  provider.requests('token').filter(({ body }) => body['grant_type']?.includes('/mfa-')).length

/** A new profile; what the application responds is recorded, to be searched for tokens. */
async function arrive(user: string, { front, url } = site): Promise<Page> {
  profile = await newProfile(browser)
  sent = front.record()
  await openTransfer(profile.page, url, user)
  return profile.page
}

/** One route is for tokens, and a redirect to the logout of the provider has the ID token as its hint. */
const TOKEN_ROUTES = /^\/auth\/(?:access-token|logout)\b/

/** Expects no token in anything else that the browser was sent. */
function expectNoTokens(): void {
  const texts = sent
    .filter(({ path }) => !TOKEN_ROUTES.test(path))
    .map(({ chunks }) => Buffer.concat(chunks).toString())
  expect(texts.some((text) => text.includes('Transfer money'))).toBe(true)
  expect(tokens.size).toBeGreaterThan(0)
  for (const token of tokens) expect(texts.filter((text) => text.includes(token))).toEqual([])
}

/** Expects that a code is refused. */
function announceRefusal(): void {
  profile.announce(400, '/auth/mfa/verify')
  site.complaints.announce(/invalid_grant/)
}

/** Chooses the push message and waits until the page has sent its first request for the approval. */
async function choosePush(page: Page, { complaints } = site): Promise<void> {
  profile.announce(400, '/auth/mfa/verify')
  complaints.announce(/authorization_pending/)
  const asked = page.waitForResponse((response) => response.url().endsWith('/auth/mfa/verify'))
  await choose(page, 'Push message')
  await asked
}

describe('on the page', () => {
  test('[S172, S209, S211] an authenticator app is set up, and its code confirms the transfer', async () => {
    const page = await arrive('alice')
    await pressTransfer(page)
    await dialogue(page).getByRole('heading', { name: 'Set up a second factor' }).waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await choose(page, 'Authenticator app')
    const picture = dialogue(page).getByRole('img', { name: 'QR code' })
    await picture.waitFor()
    expect(await picture.evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBeGreaterThan(0)
    const recoveryCode = provider.mfa.recoveryCode('alice') ?? ''
    expect(recoveryCode).not.toBe('')
    await dialogue(page).getByText(recoveryCode).waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    const code = provider.mfa.totp(await readSecret(page))
    announceRefusal()
    await enterCode(page, wrong(code))
    await alert(page, 'This code is wrong.').waitFor()
    await enterCode(page, code)
    await receipt(page).getByText('Authenticator app').waitFor()
    await receipt(page).getByText('€25.50').waitFor()
    await page.getByRole('region', { name: 'Account' }).getByText('UTC').waitFor()
    expect(await dialogue(page).count()).toBe(0)
    expect(await accessibilityProblems(page)).toEqual([])

    const before = proofs()
    await pressTransfer(page)
    await receipt(page).getByText('Your recent second factor').waitFor()
    expect(proofs()).toBe(before)
    expectNoTokens()
  })

  test('[S210] a push message is approved in another tab, or refused there', async () => {
    provider.mfa.enrollOob('alice', 'push')
    const page = await arrive('alice')
    const inbox = await profile.context.newPage()
    const respond = async (button: string): Promise<void> => {
      await dialogue(page).getByText('Approve it there').waitFor()
      await inbox.goto(`${provider.issuer}/dev/inbox`)
      await inbox.getByRole('button', { name: button }).first().click()
      await page.bringToFront()
    }
    await pressTransfer(page)
    await choosePush(page)
    announceRefusal()
    await respond('Deny')
    await alert(page, 'You denied the transfer on your device.').waitFor()
    await dialogue(page).getByRole('button', { name: 'Close' }).click()
    await alert(page, 'No money was transferred.').waitFor()
    await pressTransfer(page)
    await choosePush(page)
    await respond('Approve')
    await receipt(page).getByText('Push message').waitFor()
    expectNoTokens()
  })

  test('[S210] a code is sent to a phone', async () => {
    provider.mfa.enrollOob('alice', 'sms', '+15550100')
    const page = await arrive('alice')
    await pressTransfer(page)
    await choose(page, 'Text message to')
    await dialogue(page).getByRole('heading', { name: 'Enter the code' }).waitFor()
    const code = codeFor(provider, 'alice')
    announceRefusal()
    await enterCode(page, wrong(code))
    await alert(page, 'This code is wrong.').waitFor()
    await enterCode(page, code)
    await receipt(page).getByText('Text message to').waitFor()
    expectNoTokens()
  })

  test('an e-mail address is set up as the first factor', async () => {
    const page = await arrive('bob')
    await pressTransfer(page)
    await choose(page, 'E-mail')
    await dialogue(page).getByRole('heading', { name: 'Enter the code' }).waitFor()
    await dialogue(page)
      .getByText(provider.mfa.recoveryCode('bob') ?? 'none')
      .waitFor()
    await enterCode(page, codeFor(provider, 'bob'))
    await receipt(page).getByText('E-mail').waitFor()
    expectNoTokens()
  })

  test('a recovery code is replaced by a new one', async () => {
    provider.mfa.enrollOtp('alice')
    const page = await arrive('alice')
    await pressTransfer(page)
    await choose(page, 'Recovery code')
    await dialogue(page).getByRole('heading', { name: 'Enter the code' }).waitFor()
    const used = provider.mfa.recoveryCode('alice') ?? ''
    announceRefusal()
    await enterCode(page, 'AAAA-BBBB-CCCC')
    await alert(page, 'This code is wrong.').waitFor()
    await enterCode(page, used)
    await dialogue(page).getByRole('heading', { name: 'Your new recovery code' }).waitFor()
    const next = provider.mfa.recoveryCode('alice') ?? ''
    expect(next).not.toBe(used)
    await dialogue(page).getByText(next).waitFor()
    await dialogue(page).getByRole('button', { name: 'I have written it down' }).click()
    await receipt(page).getByText('Recovery code').waitFor()
    expectNoTokens()
  })

  test('by keyboard: Escape closes, and the focus is where it was', async () => {
    provider.mfa.enrollOtp('alice')
    const page = await arrive('alice')
    const focused = (): Promise<string | null | undefined> =>
      page.evaluate(() => document.activeElement?.textContent)
    await pressTransfer(page)
    await dialogue(page).getByRole('button', { name: 'Authenticator app' }).waitFor()
    await page.keyboard.press('Escape')
    await alert(page, 'No money was transferred.').waitFor()
    expect(await focused()).toBe('Transfer')
    await page.keyboard.press('Enter')
    await dialogue(page).getByRole('button', { name: 'Authenticator app' }).press('Enter')
    await dialogue(page).getByRole('textbox', { name: 'Code' }).waitFor()
    const [app] = provider.mfa.authenticators('alice')
    await page.keyboard.type(provider.mfa.totp(app?.secret ?? ''))
    await page.keyboard.press('Enter')
    await receipt(page).waitFor()
    expect(await focused()).toContain('Transfer done')
    expectNoTokens()
  })
})

interface Factor {
  /** How its button begins. */
  readonly name: string
  enroll(): void
  /** Confirms as the user would; a push message polls for the approval. */
  prove(page: Page): Promise<void>
  /** The text of the page after another login, if it may have noticed that between the logout and the login. */
  readonly refusal?: RegExp
}

const app: Factor = {
  name: 'Authenticator app',
  enroll: () => void provider.mfa.enrollOtp('alice'),
  async prove(page) {
    const [enrolled] = provider.mfa.authenticators('alice')
    await enterCode(page, provider.mfa.totp(enrolled?.secret ?? ''))
  },
}

const factors: readonly Factor[] = [
  app,
  {
    name: 'Text message to',
    enroll: () => void provider.mfa.enrollOob('alice', 'sms', '+15550100'),
    prove: (page) => enterCode(page, codeFor(provider, 'alice')),
  },
  {
    name: 'Push message',
    enroll: () => void provider.mfa.enrollOob('alice', 'push'),
    prove: async () => provider.mfa.inbox('alice')[0]?.approve(),
    refusal: /You have signed in again in the meantime\.|You are signed out\./,
  },
  {
    name: 'Recovery code',
    enroll: app.enroll,
    prove: (page) => enterCode(page, provider.mfa.recoveryCode('alice') ?? ''),
  },
]

describe('a dialog that is out of date', () => {
  /** Opens the dialogue, up to the field for the code or the wait for the device. */
  async function openDialogue(page: Page, { enroll, name }: Factor = app, where = site): Promise<void> {
    enroll()
    await pressTransfer(page)
    await (name === 'Push message' ? choosePush(page, where) : choose(page, name))
    await dialogue(page)
      .getByText(/Enter the code|Approve it there/)
      .waitFor()
  }

  describe('with a short lifetime of the mfa_token', () => {
    let hasty: DemoSite
    beforeAll(async () => {
      hasty = await startDemo(provider, { IDP_MFA_TOKEN_TTL: '60' }, { movableClock: true })
    })
    afterEach(async () => {
      await hasty.shiftClock(0)
      await hasty.complaints.settle()
    })
    afterAll(() => hasty.stop())

    test.each(factors)(
      '[S135] too late, by $name: nothing is verified, and starting again works',
      async (factor) => {
        const page = await arrive('alice', hasty)
        profile.announce(401, '/auth/mfa/verify')
        await openDialogue(page, factor, hasty)
        await hasty.shiftClock(61)
        const before = proofs()
        await factor.prove(page)
        await alert(page, 'You took too long.').waitFor()
        expect(proofs()).toBe(before)
        await dialogue(page).getByRole('button', { name: 'Close' }).click()
        await pressTransfer(page)
        await dialogue(page).getByRole('button', { name: factor.name }).waitFor()
        expectNoTokens()
      },
    )
  })

  test.each(factors)(
    '[S212] of another user, by $name: the challenge of alice confirms nothing for bob',
    async (factor) => {
      const page = await arrive('alice')
      await openDialogue(page, factor)
      profile.announce(401, '/auth/profile')
      profile.announce(401, '/auth/mfa/verify')
      const other = await profile.context.newPage()
      const noticed = page.waitForResponse(at('/auth/profile'))
      await other.goto(at('/auth/logout'))
      await noticed
      await openTransfer(other, site.url, 'bob')
      await page.bringToFront()
      const before = proofs()
      await factor.prove(page)
      await alert(page, factor.refusal ?? 'You have signed in again in the meantime.').waitFor()
      expect(proofs()).toBe(before)
      expectNoTokens()
    },
  )

  test('after a logout in another tab, which this tab notices', async () => {
    const page = await arrive('alice')
    await openDialogue(page)
    profile.announce(401, '/auth/profile')
    profile.announce(401, '/auth/mfa/verify')
    const other = await profile.context.newPage()
    await other.goto(at('/auth/logout'))
    await other.getByRole('heading', { name: 'Server-side login' }).waitFor()
    await page.locator('.site-header').getByText('Log in').waitFor()
    const before = proofs()
    await app.prove(page)
    await alert(page, 'You are signed out.').waitFor()
    expect(proofs()).toBe(before)
    expectNoTokens()
  })

  test('going back to the page does not transfer again', async () => {
    provider.mfa.enrollOtp('alice')
    const page = await arrive('alice')
    await pressTransfer(page)
    await choose(page, 'Recovery code')
    await enterCode(page, provider.mfa.recoveryCode('alice') ?? '')
    await dialogue(page).getByRole('button', { name: 'I have written it down' }).click()
    await receipt(page).waitFor()
    const transfers = (): number =>
      profile.responses.filter((one) => one.request().method() === 'POST' && one.url() === at('/transfer'))
        .length
    const before = transfers()
    await page.goto(at('/profile'))
    await page.goBack()
    await page.getByRole('heading', { level: 1, name: 'Transfer money' }).waitFor()
    await page.goForward()
    await page.getByRole('heading', { level: 1, name: 'Profile' }).waitFor()
    await page.goBack()
    await page.getByRole('button', { name: 'Transfer', exact: true }).waitFor()
    expect(transfers()).toBe(before)
    expectNoTokens()
  })
})

/** The second step at the provider, where a user without an app sets one up. */
async function secondStep(page: Page): Promise<void> {
  profile.announce(422, /\/interaction\/[\w-]+/)
  await page.getByRole('heading', { name: 'Set up a second factor' }).waitFor()
  const secret = ((await page.locator('#secret').textContent()) ?? '').replace(/\s/g, '')
  const code = provider.mfa.totp(secret)
  await page.getByRole('textbox', { name: 'Code' }).fill(wrong(code))
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('alert').waitFor()
  await page.getByRole('textbox', { name: 'Code' }).fill(code)
  await page.getByRole('button', { name: 'Continue' }).click()
}

describe('at the provider', () => {
  test('the browser goes there and comes back with the form filled in', async () => {
    const page = await arrive('alice')
    profile.announce(401, '/api/transfers')
    await pressTransfer(page, 'At the provider')
    await page.waitForURL((url) => url.origin === provider.origin)
    await page.goBack()
    await page.waitForURL((url) => url.pathname === '/transfer')
    await pressTransfer(page, 'At the provider')
    await secondStep(page)
    await page.waitForURL((url) => url.pathname === '/transfer')
    await page.getByText('You have confirmed your identity.').waitFor()
    expect(await receipt(page).count()).toBe(0)
    expect(await page.getByRole('textbox', { name: 'Amount' }).inputValue()).toBe('25.50')
    await page.getByRole('button', { name: 'Transfer', exact: true }).click()
    await receipt(page).getByText('Second factor at the provider').waitFor()
    expectNoTokens()
  })

  test('a user who denies there gets back to the page, without a transfer', async () => {
    const page = await arrive('alice')
    profile.announce(401, '/api/transfers')
    profile.announce(400, '/auth/callback')
    await pressTransfer(page, 'At the provider')
    await page.getByRole('button', { name: 'Deny' }).click()
    await page.getByRole('heading', { name: 'Login was not completed' }).waitFor()
    await page.goto(at('/transfer'))
    await page.getByRole('heading', { level: 1, name: 'Transfer money' }).waitFor()
  })
})

describe('in a popup', () => {
  async function openPopup(page: Page): Promise<Page> {
    const [popup] = await Promise.all([page.waitForEvent('popup'), pressTransfer(page, 'In a popup')])
    return popup
  }

  test('the provider verifies the factor there, and the page continues with its session', async () => {
    const page = await arrive('alice')
    await page.getByRole('navigation').getByRole('link', { name: 'Transfer' }).waitFor()
    const popup = await openPopup(page)
    const closed = popup.waitForEvent('close')
    await secondStep(popup)
    await closed
    await receipt(page).getByText('Second factor at the provider, in a popup').waitFor()
    await page.getByRole('banner').getByText('Alice Anderson').waitFor()
    expectNoTokens()
  })

  test('a user who closes it reads that nothing was transferred, and can try again', async () => {
    const page = await arrive('alice')
    await (await openPopup(page)).close()
    await alert(page, 'You closed the window.').waitFor()
    const popup = await openPopup(page)
    profile.announce(400, '/auth/callback')
    await popup.getByRole('button', { name: 'Deny' }).click()
    await alert(page, 'The provider did not confirm the transfer.').waitFor()
    expect(await receipt(page).count()).toBe(0)
  })

  test('a login as another user there keeps the session of the page', async () => {
    const page = await arrive('alice')
    await profile.context.clearCookies({ domain: '127.0.0.1' })
    const popup = await openPopup(page)
    profile.announce(400, '/auth/callback')
    site.complaints.announce(/A different user signed in in the popup/)
    await enterAs(popup, 'bob')
    await secondStep(popup)
    await alert(page, 'You signed in as a different user there.').waitFor()
    await page.reload()
    await page.getByRole('banner').getByText('Alice Anderson').waitFor()
  })

  test('a browser that blocks it gets a hint to allow it', async () => {
    const page = await arrive('alice')
    // The behaviour of a browser that blocks popups; this one has no such setting while a test controls it.
    await page.evaluate(() => {
      window.open = () => null
    })
    await pressTransfer(page, 'In a popup')
    await alert(page, 'Your browser blocked the window.').waitFor()
    expectNoTokens()
  })
})
