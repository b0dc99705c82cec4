import { runInNewContext } from 'node:vm'
import { vi } from 'vitest'
import type { Browser } from './app.ts'
import { APP } from './app.ts'

const network = globalThis.fetch

/** A window that a page has opened. */
export interface Popup {
  closed: boolean
  readonly features: string
  /** Where the page sent it; waits until it has. */
  readonly url: Promise<string>
  /** Shows a page of the application and runs its script. */
  show(response: Response): Promise<void>
}

export interface Page {
  readonly requests: Request[]
  readonly popups: Popup[]
  /** The result of the next `window.open`: `cut`, as under `Cross-Origin-Opener-Policy: same-origin`. */
  opening: 'related' | 'cut' | 'blocked'
  hasFocus: boolean
  /** A message to the window, as another one posts it. */
  post(data: unknown, origin?: string): void
  /** An event of the window, with its properties. */
  fire(type: string, properties?: object): void
}

/** The script of a page and the nonce in front of it. */
export function scriptIn(html: string): { script: string; nonce: string } {
  const [, nonce = '', script = ''] = /<script nonce="([^"]*)">(.*?)<\/script>/s.exec(html) ?? []
  return { script, nonce }
}

/** The globals that the browser functions use, in front of a Web client; `vi.unstubAllGlobals` takes them away. */
export function openPage(browser: Browser): Page {
  const window = new EventTarget()
  const requests: Request[] = []
  const popups: Popup[] = []
  const page: Page = {
    requests,
    popups,
    opening: 'related',
    hasFocus: true,
    post: (data, origin = APP) => page.fire('message', { data, origin }),
    fire: (type, properties) => void window.dispatchEvent(Object.assign(new Event(type), properties)),
  }
  const open = (_url: string, _name: string, features: string): object | null => {
    if (page.opening === 'blocked') return null
    const isCut = page.opening === 'cut'
    let go: (url: string) => void
    const url = new Promise<string>((resolve) => {
      go = resolve
    })
    const opener = isCut
      ? null
      : { postMessage: (data: unknown, target: string) => target === APP && page.post(data) }
    const popup: Popup = {
      closed: isCut,
      features,
      url,
      async show(response) {
        runInNewContext(scriptIn(await response.text()).script, {
          window: { opener, BroadcastChannel, close: () => undefined },
          BroadcastChannel,
          location: { origin: APP },
          setTimeout: () => undefined,
        })
      },
    }
    popups.push(popup)
    return {
      get closed() {
        return popup.closed
      },
      close: () => {
        popup.closed = true
      },
      location: {
        set href(address: string) {
          go(address)
        },
      },
    }
  }
  vi.stubGlobal('window', Object.assign(window, { open }))
  vi.stubGlobal('addEventListener', window.addEventListener.bind(window))
  vi.stubGlobal('removeEventListener', window.removeEventListener.bind(window))
  vi.stubGlobal(
    'document',
    Object.assign(new EventTarget(), { visibilityState: 'visible', hasFocus: () => page.hasFocus }),
  )
  vi.stubGlobal('location', new URL(`${APP}/orders`))
  vi.stubGlobal('fetch', (target: string | URL | Request, init?: RequestInit) => {
    // The client, in the same process here, asks its provider.
    if (typeof target !== 'string' || !target.startsWith('/')) return network(target, init)
    requests.push(browser.request(target, init))
    return browser.send(target, init)
  })
  return page
}
