import type {
  Fixtures,
  PlaywrightTestArgs,
  PlaywrightTestOptions,
  PlaywrightWorkerArgs,
  PlaywrightWorkerOptions,
  StorageState,
} from '@playwright/test'
import type { DevProvider, DevProviderOptions } from 'idp-dev-provider'
import { readEnv } from '../config/env.ts'
import type { User } from '../session/model/session-data.ts'
import type { TestSession } from '../testing/session-cookie.ts'
import { kitError } from './kit-error.ts'
import { findUser, startProvider, withCleanProvider } from './provider.ts'
import type { SessionCookieOptions } from './session-state.ts'
import { toSessionState } from './session-state.ts'

/** Options of a test, for `test.use` and for `use` of the configuration. */
export interface IdpOptions {
  /**
   * The user whom a session cookie signs in: claims, the name of a user of `idp-dev-provider`, or `null` for a browser without cookies.
   * Default `undefined`: the browser has what `storageState` says.
   */
  user: User | string | null | undefined
  /** Further data of that session, for example a `tokenSet`. */
  session: Partial<TestSession>
  /** How the application writes its session cookie, where that differs from the variables `IDP_SECRET` and `IDP_COOKIE_*`. */
  sessionCookie: SessionCookieOptions
}

/** Fixtures of a test. */
export interface IdpFixtures {
  /** The running provider. Faults, time and settings that the test changes are reset after it. */
  provider: DevProvider
}

/** Options of a worker. */
export interface IdpWorkerOptions {
  /** Options of the provider; by default it listens at `IDP_DOMAIN`. */
  providerOptions: DevProviderOptions
}

/** Fixtures of a worker. */
export interface IdpWorkerFixtures {
  /** The provider behind `provider`, which no test resets. */
  workerProvider: DevProvider
}

/** The states that the option `user` has made. */
const made = new WeakSet<object>()

function isReplaced(user: IdpOptions['user'], state: StorageState | undefined): boolean {
  return user !== undefined && (typeof state !== 'object' || !made.has(state))
}

async function toUser(user: User | string, options: DevProviderOptions): Promise<User> {
  if (typeof user === 'string') {
    const { claims, sub } = await findUser(user, options)
    return { ...claims, sub }
  }
  if (typeof user.sub === 'string' && user.sub !== '') return user
  throw kitError('the option user must have a sub, or be the name of a user, null or undefined.')
}

/**
 * Fixtures for `@playwright/test`, to extend a `test` with.
 *
 * @example
 * import { test as base } from '@playwright/test'
 * import { idpFixtures } from 'idp-client/playwright'
 *
 * export const test = base.extend(idpFixtures)
 * test.use({ user: { sub: 'alice' } })
 */
export const idpFixtures: Fixtures<
  IdpOptions & IdpFixtures,
  IdpWorkerOptions & IdpWorkerFixtures,
  PlaywrightTestArgs & PlaywrightTestOptions,
  PlaywrightWorkerArgs & PlaywrightWorkerOptions
> = {
  user: [undefined, { option: true }],
  session: [{}, { option: true }],
  sessionCookie: [{}, { option: true }],
  providerOptions: [{}, { scope: 'worker', option: true }],
  // Not only of the context: the fixture `request` and further contexts have it, too.
  async storageState({ baseURL, providerOptions, session, sessionCookie, storageState, user }, use) {
    if (user === undefined) return use(storageState)
    const state =
      user === null
        ? { cookies: [], origins: [] }
        : await toSessionState({
            session: { ...session, user: await toUser(user, providerOptions) },
            cookie: sessionCookie,
            baseURL,
            env: readEnv(),
          })
    made.add(state)
    await use(state)
  },
  async context({ context, storageState, user }, use) {
    if (isReplaced(user, storageState))
      throw kitError(
        'a test has the option user or storageState, not both: the latter would replace the session.',
      )
    await use(context)
  },
  workerProvider: [
    async ({ providerOptions }, use) => {
      const provider = await startProvider(providerOptions)
      try {
        await use(provider)
      } finally {
        await provider.stop()
      }
    },
    { scope: 'worker' },
  ],
  async provider({ workerProvider }, use) {
    await withCleanProvider(workerProvider, use)
  },
}
