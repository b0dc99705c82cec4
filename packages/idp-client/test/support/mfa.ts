import type { DevProviderOptions } from 'idp-dev-provider'
import type { IdpClientOptions } from '../../src/config/options.ts'
import type { MfaRequiredError } from '../../src/errors/mfa.ts'
import { isIdpError } from '../../src/index.ts'
import type { Browser, World } from './app.ts'
import { startWorld } from './app.ts'

/** The API of the provider that demands another factor. */
export const BANK = 'https://bank.example.test/'
export const TTL = 600

/** A world in which alice has an authenticator app. */
export interface MfaWorld extends World {
  readonly secret: string
  /** A signed-in user; the login is not in the request log. */
  signedIn(user?: string, browser?: Browser): Promise<Browser>
  /** Moves both clocks. */
  pass(seconds: number): void
  /** The error with which the provider requires another factor for the bank. */
  demand(browser: Browser): Promise<MfaRequiredError>
  /** The code that alice's app shows. */
  otp(): string
}

/** The error of a token request for which another factor is required. */
export async function demandOf(asking: Promise<unknown>): Promise<MfaRequiredError> {
  const error = await asking.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (isIdpError(error, 'MFA_REQUIRED')) return error as MfaRequiredError
  throw new Error('no further factor was demanded', { cause: error })
}

export async function startMfaWorld(
  options: IdpClientOptions = {},
  providerOptions: DevProviderOptions = {},
): Promise<MfaWorld> {
  const world = await startWorld(options, { accessTokenTtl: TTL, ...providerOptions })
  const { secret } = world.provider.mfa.enrollOtp('alice')
  const pass = (seconds: number): void => {
    world.clock.now += seconds
  }
  return {
    ...world,
    secret,
    pass,
    async signedIn(user = 'alice', browser = world.newBrowser()) {
      await world.login(browser, '', { user })
      world.provider.clearRequests()
      return browser
    },
    demand: (browser) =>
      demandOf(world.client.getAccessToken(browser.request('/'), new Headers(), { audience: BANK })),
    otp: () => world.provider.mfa.totp(secret),
  }
}

/** Keeps what an operation wrote, as the browser does. */
export async function keeping<T>(
  browser: Browser,
  operation: (request: Request, headers: Headers) => Promise<T>,
): Promise<T> {
  const headers = new Headers()
  try {
    return await operation(browser.request('/'), headers)
  } finally {
    browser.store(new Response(null, { headers }))
  }
}
