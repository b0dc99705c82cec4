import { tokenEpoch } from './token-epoch.ts'

/** The response of the access-token route. */
export interface AccessTokenResponse {
  readonly token: string
  /** Seconds since the epoch, by the clock of the server. */
  readonly expires_at: number
  /** Seconds that were left when the server answered; a kept token has less by now. */
  readonly expires_in: number
  /** Granted scope, when the provider named it. */
  readonly scope?: string
  /** `Bearer` or `DPoP`. */
  readonly token_type?: string
}

/** A request for a token, and how long its outcome counts; times are those of `performance.now()`, in milliseconds. */
interface Asked {
  readonly epoch: number
  readonly at: number
  /** Endless while it is on its way, so that everybody joins it. */
  until: number
  readonly answer: Promise<AccessTokenResponse>
}

/** Milliseconds before its end in which a token is asked for anew, so that it is still valid when it arrives at an API. */
const BUFFER = 10_000

/** Milliseconds for which a token is used although the user was elsewhere and may have signed in as another user. */
const UNQUESTIONED = 5_000

const asked = new Map<string, Asked>()

/** The user leaves the page or comes back: in another window the session may have become another one. */
export function questionTokens(event: Event): void {
  const limit = (event as Partial<PageTransitionEvent>).persisted ? 0 : UNQUESTIONED
  for (const one of asked.values()) if (performance.now() - one.at >= limit) one.until = 0
}

/**
 * One token per address, asked for once however many want it. A failure is shared by those who wait, and not kept. What
 * the server says is left counts, because the clock of this machine may be wrong.
 */
export function obtain(
  url: string,
  request: (url: string) => Promise<AccessTokenResponse>,
): Promise<AccessTokenResponse> {
  const now = performance.now()
  const epoch = tokenEpoch
  for (const [other, one] of asked) if (one.until <= now || one.epoch !== epoch) asked.delete(other)
  const found = asked.get(url)
  if (found) return found.answer
  const mine: Asked = {
    epoch,
    at: now,
    until: Number.POSITIVE_INFINITY,
    answer: request(url).then(
      (answer) => {
        // The session that this came from is no longer certain.
        if (epoch !== tokenEpoch) return obtain(url, request)
        // Waiting callers get it; if the user was elsewhere meanwhile, it is not cached.
        if (mine.until > 0) mine.until = now + answer.expires_in * 1000 - BUFFER
        return answer
      },
      (error: unknown) => {
        mine.until = 0
        throw error
      },
    ),
  }
  asked.set(url, mine)
  return mine.answer
}
