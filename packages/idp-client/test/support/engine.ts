import type { IdpClientOptions } from '../../src/config/options.ts'
import { customClock } from '../../src/config/options.ts'
import { resolve } from '../../src/config/resolve.ts'
import type { Engine } from '../../src/engine.ts'
import { createEngine } from '../../src/engine.ts'
import type { CookieAttributes } from '../../src/http/cookie-jar.ts'
import type { Exchange } from '../../src/http/exchange.ts'
import { requestCookies } from '../../src/http/host-state.ts'

export const SECRET = '0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'

/** An engine over real parts with a clock that the test moves; nothing of it talks to a network. */
export function engineFor(options: IdpClientOptions = {}): { engine: Engine; clock: { now: number } } {
  const clock = { now: 1_800_000_000 }
  const { config, problems } = resolve(
    {
      domain: 'idp.example.com',
      clientId: 'client',
      clientSecret: 'client-secret',
      secret: SECRET,
      appBaseUrl: 'https://app.example.com',
      [customClock]: () => clock.now,
      logger: () => {},
      ...options,
    },
    {},
  )
  if (!config) throw new Error(problems.map(({ message }) => message).join('\n'))
  return { engine: createEngine(config), clock }
}

/** A browser's cookies, and exchanges that carry them. */
export class Cookies {
  readonly stored = new Map<string, { value: string; attributes: CookieAttributes }>()

  exchange(url = 'https://app.example.com/', headers: Record<string, string> = {}): Exchange {
    const received = new Map([...this.stored].map(([name, { value }]) => [name, value]))
    return {
      request: {
        headers: new Headers(headers),
        method: 'GET',
        url: new URL(url),
        form: async () => new URLSearchParams(),
        json: async () => ({}),
      },
      ...requestCookies(received),
      canWrite: () => true,
    }
  }

  /** Takes what an exchange staged, as a browser would; returns the names that were written or deleted. */
  take({ cookies }: Exchange): string[] {
    const names: string[] = []
    cookies.flush({
      set: (name, value, attributes) => {
        names.push(name)
        if (attributes.maxAge === 0) this.stored.delete(name)
        else this.stored.set(name, { value, attributes })
      },
    })
    return names
  }

  bytes(): number {
    return [...this.stored].reduce((sum, [name, { value }]) => sum + name.length + 1 + value.length, 0)
  }
}
