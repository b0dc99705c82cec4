import type { Config } from '../config/config.ts'
import type { Exchange } from '../http/exchange.ts'
import { endsAt } from '../session/lifetime.ts'
import type { SessionStorage } from '../session/storage.ts'
import type { StoredSession } from '../session/stored-session.ts'
import { countFurtherTokens, FURTHER_TOKENS } from '../session/stored-session.ts'
import type { Line } from './lineage.ts'
import { markUnwritten } from './lineage.ts'

export interface KeepParts {
  readonly config: Config
  readonly sessions: SessionStorage
}

export interface Kept {
  readonly line: Line
  readonly session: StoredSession
}

/** Keeps a session in this process until a response can carry it. */
export function handOver(config: Config, line: Line, { data, usedAt }: StoredSession): void {
  const times = { createdAt: data.internal.createdAt, usedAt }
  markUnwritten(line, endsAt(times, config.session), config.clock())
}

/** Where nothing is written for long, nothing else bounds what a session grows to. */
async function bound(config: Config, line: Line): Promise<void> {
  if (countFurtherTokens(line.latest) <= FURTHER_TOKENS) return
  const { withFewerTokens } = await import('../session/further-tokens.ts')
  line.latest = withFewerTokens(line.latest, config)
}

/** Keeps what a redemption brought: in this answer, or in this process until an answer can carry it. */
export async function keep(
  { config, sessions }: KeepParts,
  exchange: Exchange,
  { line, session }: Kept,
): Promise<void> {
  if (sessions.shared) {
    // It was written with the redemption.
    await sessions.shared.adopt(exchange, session)
    return
  }
  // The session ended while its token was redeemed: bringing it back would undo a logout or another login.
  if (line.closed) return
  // Until its cookie has left, what a redemption brought is only here.
  handOver(config, line, session)
  if (!exchange.canWrite()) return bound(config, line)
  try {
    await sessions.save(exchange, session)
  } catch (error) {
    // Losing a rotated token would end the session: it stays in the process, and the call still gets its token.
    const { asIdpError, reportOutcome } = await import('../log/failure.ts')
    reportOutcome(config.log, asIdpError(error), { level: 'error', code: 'REQUEST_FAILED' })
  }
}
