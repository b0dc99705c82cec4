import type { IdpClientOptions } from './options.ts'
import type { Note } from './readers.ts'
import { isGiven } from './readers.ts'

interface Unavailable {
  /** As the application would write it, so that the message can be found in its source. */
  readonly setting: string
  asked(options: IdpClientOptions): boolean
}

/**
 * Options that are resolved and checked, but that nothing acts on yet. Each is refused when set, since a security
 * option without effect is worse than none; the row goes when its function comes.
 */
const unavailable: readonly Unavailable[] = [
  { setting: 'sessionStore', asked: (options) => isGiven(options.sessionStore) },
  {
    setting: 'enableConnectAccountEndpoint: true',
    asked: (options) => options.enableConnectAccountEndpoint === true,
  },
]

const cure = 'is not available in this version of the library; leave it out'

export function noteUnavailable(options: IdpClientOptions, note: Note): void {
  for (const { setting, asked } of unavailable) {
    if (asked(options)) note('wrong-option', `${setting} ${cure}.`)
  }
}
