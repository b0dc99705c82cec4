import type { IdpClientOptions } from '../../src/index.ts'
import { IdpClient } from '../../src/index.ts'
import type { Mistake } from './bench.ts'
import { thrownBy } from './bench.ts'

/** A client that is constructed like this, in a process without variables. */
const construct =
  (options: IdpClientOptions): Mistake['make'] =>
  async (bench) => {
    await bench.start(options)
  }

/** The same for an option that is wrong: a mistake in the code, which the constructor throws for. */
const constructWrongly =
  (options: IdpClientOptions): Mistake['make'] =>
  (bench) =>
    thrownBy(() => bench.start(options))

const unknown = { clientSecrets: 'x' } as IdpClientOptions

/** Mistakes that are found without a request. */
export const configuration: readonly Mistake[] = [
  {
    mistake: 'no option and no variable',
    remedy: 'INVALID_CONFIGURATION',
    make: async () => new IdpClient(),
  },
  {
    mistake: 'a secret that is too short',
    remedy: 'INVALID_CONFIGURATION',
    make: construct({ secret: 'short' }),
  },
  {
    mistake: 'a secret of one character',
    remedy: 'INVALID_CONFIGURATION',
    make: construct({ secret: 'a'.repeat(64) }),
  },
  {
    mistake: 'a base URL without scheme',
    remedy: 'INVALID_CONFIGURATION',
    make: constructWrongly({ appBaseUrl: 'localhost:3000' }),
  },
  {
    mistake: 'a provider on http without the option for it',
    remedy: 'INVALID_CONFIGURATION',
    make: constructWrongly({ allowInsecureRequests: false }),
  },
  {
    mistake: 'the discovery document as domain',
    remedy: 'INVALID_CONFIGURATION',
    make: constructWrongly({ domain: 'https://idp.example.com/.well-known/openid-configuration' }),
  },
  {
    mistake: 'a scope without openid',
    remedy: 'INVALID_CONFIGURATION',
    make: constructWrongly({ authorizationParameters: { scope: 'profile' } }),
  },
  {
    mistake: 'a cookie domain that does not contain the host',
    remedy: 'INVALID_CONFIGURATION',
    make: construct({
      appBaseUrl: 'https://app.example.com',
      session: { cookie: { domain: 'example.org' } },
    }),
  },
  {
    mistake: 'an invalid number of seconds',
    remedy: 'INVALID_CONFIGURATION',
    make: constructWrongly({ session: { absoluteDuration: '3 days' as never } }),
  },
  {
    mistake: 'an option that does not exist',
    remedy: 'INVALID_CONFIGURATION',
    make: construct(unknown),
  },
]
