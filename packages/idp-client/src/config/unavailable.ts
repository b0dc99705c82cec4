import type { Env, VariableName } from './env.ts'
import type { IdpClientOptions } from './options.ts'
import type { Note } from './readers.ts'
import { isGiven } from './readers.ts'

interface Unavailable {
  /** As the application would write it, so that the message can be found in its source. */
  readonly setting: string
  asked(options: IdpClientOptions): boolean
  readonly variable?: { readonly name: VariableName; overruled(options: IdpClientOptions): boolean }
}

/**
 * Options that are resolved and checked, but that nothing acts on yet. Each is refused when set, since a security
 * option without effect is worse than none; the row goes when its function comes.
 */
const unavailable: readonly Unavailable[] = [
  { setting: 'sessionStore', asked: (options) => isGiven(options.sessionStore) },
  {
    setting: 'pushedAuthorizationRequests: true',
    asked: (options) => options.pushedAuthorizationRequests === true,
  },
  { setting: 'useDPoP: true', asked: (options) => options.useDPoP === true },
  {
    setting: 'clientAssertionSigningKey',
    asked: (options) => isGiven(options.clientAssertionSigningKey),
    variable: {
      name: 'IDP_CLIENT_ASSERTION_SIGNING_KEY',
      overruled: (options) => isGiven(options.clientAssertionSigningKey),
    },
  },
  {
    setting: 'enableConnectAccountEndpoint: true',
    asked: (options) => options.enableConnectAccountEndpoint === true,
  },
  { setting: 'fetchUserInfo: true', asked: (options) => options.fetchUserInfo === true },
]

const cure = 'is not available in this version of the library; leave it out'

export function noteUnavailable(options: IdpClientOptions, env: Env, note: Note): void {
  for (const { setting, asked, variable } of unavailable) {
    if (asked(options)) note('wrong-option', `${setting} ${cure}.`)
    else if (variable && env[variable.name]?.trim() && !variable.overruled(options)) {
      note('wrong-variable', `${variable.name} ${cure}.`)
    }
  }
}
