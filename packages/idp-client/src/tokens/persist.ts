import type { Config } from '../config/config.ts'
import type { Exchange } from '../http/exchange.ts'
import { endsAt } from '../session/model/lifetime.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import { countFurtherTokens, FURTHER_TOKENS } from '../session/model/stored-session.ts'
import type { SessionStorage } from '../session/storage.ts'
import type { TokenFamily } from './token-family.ts'
import { markPending } from './token-family.ts'

export interface PersistParts {
  readonly config: Config
  readonly sessions: SessionStorage
}

export interface PendingRefresh {
  readonly family: TokenFamily
  readonly session: StoredSession
}

/** Keeps a session in this process until a response can carry it. */
export function deferPersistence(config: Config, family: TokenFamily, { data, usedAt }: StoredSession): void {
  const times = { createdAt: data.internal.createdAt, usedAt }
  markPending(family, endsAt(times, config.session), config.clock())
}

/** Where nothing is written for long, nothing else bounds what a session grows to. */
async function bound(config: Config, family: TokenFamily): Promise<void> {
  if (countFurtherTokens(family.latest) <= FURTHER_TOKENS) return
  const { withFewerTokens } = await import('../session/model/further-tokens.ts')
  family.latest = withFewerTokens(family.latest, config)
}

/** Keeps what a redemption brought: in this answer, or in this process until an answer can carry it. */
export async function persist(
  { config, sessions }: PersistParts,
  exchange: Exchange,
  { family, session }: PendingRefresh,
): Promise<void> {
  if (sessions.shared) {
    // It was written with the redemption.
    await sessions.shared.adopt(exchange, session)
    return
  }
  // The session ended while its token was redeemed: bringing it back would undo a logout or another login.
  if (family.closed) return
  // Until its cookie has left, what a redemption brought is only here.
  deferPersistence(config, family, session)
  if (!exchange.canWrite()) return bound(config, family)
  try {
    await sessions.save(exchange, session)
  } catch (error) {
    // Losing a rotated token would end the session: it stays in the process, and the call still gets its token.
    const { asIdpError, reportOutcome } = await import('../log/failure.ts')
    reportOutcome(config.log, asIdpError(error), { level: 'error', code: 'REQUEST_FAILED' })
  }
}
