import type { Config } from '../../config/config.ts'
import { monotonic } from '../../lib/clock.ts'
import { defined } from '../../lib/own-properties.ts'
import type { StoredSession } from '../../session/model/stored-session.ts'
import type { TokenFamily, Turn } from './process-memory.ts'
import { isInProgress } from './state.ts'

const MISUSED =
  'refreshTokens was called with the refresh token of a session. The session continues with its successor, in this process only: ' +
  'call getAccessToken instead.'

/**
 * Returns a session with the successor of its refresh token, which `refreshTokens` has redeemed or is redeeming: the session could
 * not use its own any more. From then on the successor is that of the session. Waits at most `httpTimeout` in all, and throws what
 * `wait` throws.
 */
export async function withSuccessor(
  callers: TokenFamily,
  session: StoredSession,
  { httpTimeout, log }: Config,
  wait: (turn: Turn, milliseconds: number) => Promise<unknown>,
): Promise<StoredSession> {
  log.once(MISUSED)
  const running = (): Turn | undefined => callers.turns.find(({ refresh }) => isInProgress(refresh))
  const end = monotonic() + httpTimeout
  for (let turn = running(); turn; turn = running()) await wait(turn, end - monotonic())
  callers.closed = true
  const { refreshToken } = callers.latest.data.tokenSet
  const tokenSet = { ...session.data.tokenSet, ...defined({ refreshToken }) }
  return { ...session, data: { ...session.data, tokenSet } }
}
