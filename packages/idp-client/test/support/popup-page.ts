import { runInNewContext } from 'node:vm'
import { APP } from './app.ts'
import { scriptIn } from './page.ts'

/** The id that a page gives to its popup; messages contain it. */
export const POPUP_ID = 'a0b1c2d3e4f5a0b1c2d3e4f5a0b1c2d3'

/** Query of the login route for a login in a popup. */
export const popupQuery = (parameters: Record<string, string> = {}): string =>
  `?${new URLSearchParams({ challengeMode: 'popup', popup: POPUP_ID, ...parameters })}`

/** The effects of the script on a popup's last page. */
export interface Told {
  /** Messages with the target that they are for. */
  readonly opener: { readonly message: Record<string, unknown>; readonly target: string }[]
  readonly channels: Record<string, Record<string, unknown>[]>
  readonly closedAfter: number[]
  readonly nonce: string
  readonly html: string
}

/** Runs the script of a page in a context that has only the browser APIs that the script needs. */
export async function run(response: Response, { hasOpener = true } = {}): Promise<Told> {
  const html = await response.text()
  const { nonce, script } = scriptIn(html)
  const opener: Told['opener'] = []
  const channels: Told['channels'] = {}
  const closedAfter: number[] = []
  class BroadcastChannel {
    readonly #messages: Record<string, unknown>[] = []
    constructor(name: string) {
      channels[name] = this.#messages
    }
    postMessage(message: object): void {
      this.#messages.push({ ...message })
    }
  }
  const window = {
    opener: hasOpener
      ? { postMessage: (message: object, target: string) => opener.push({ message: { ...message }, target }) }
      : null,
    BroadcastChannel,
    close: () => undefined,
  }
  runInNewContext(script, {
    window,
    BroadcastChannel,
    location: { origin: APP },
    setTimeout: (_work: () => void, milliseconds: number) => closedAfter.push(milliseconds),
  })
  return { opener, channels, closedAfter, nonce, html }
}
