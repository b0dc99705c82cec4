import type { ApiEngine, Application } from '../engine.ts'
import type { Finding } from '../errors/finding.ts'
import { toFinding } from '../errors/finding.ts'
import { deepFreeze } from '../lib/freeze.ts'
import { perObject } from '../lib/registry.ts'
import { SingleFlight } from '../lib/shared-run.ts'
import { asIdpError } from '../log/failure.ts'
import { getPublicProvider } from '../oidc/provider.ts'
import { probeStore } from '../session/store/probe.ts'

/** Something that `check` found. */
export interface CheckFinding extends Finding {
  /**
   * `failed`: no request with a session can succeed. `degraded`: sessions work, but logins and refreshes fail while the provider
   * cannot be reached.
   */
  readonly level: 'failed' | 'degraded'
}

/** The result of `check`. For logs and operators: a response to strangers should contain the status only. */
export interface CheckResult {
  /** Whether the configuration is complete and the session store works; the provider does not count. */
  readonly ready: boolean
  /** Empty if everything works. */
  readonly findings: readonly CheckFinding[]
}

/** Seconds for which a result is returned again, also that of a check that found something. */
const LIFETIME = 30

function toCheckFinding(level: CheckFinding['level'], thrown: unknown): CheckFinding {
  return { level, ...toFinding(asIdpError(thrown)) }
}

async function checkStore({ config, sessionStore }: ApiEngine): Promise<void> {
  const store = await sessionStore?.()
  if (store) await probeStore(store, config)
}

async function findProblem(
  level: CheckFinding['level'],
  step: () => Promise<void>,
): Promise<readonly CheckFinding[]> {
  return step().then(
    () => [],
    (error: unknown) => [toCheckFinding(level, error)],
  )
}

async function findProblems(engine: ApiEngine): Promise<CheckFinding[]> {
  const found = await Promise.all([
    findProblem('failed', async () => checkStore(engine)),
    findProblem('degraded', async () => getPublicProvider(engine.config).reload()),
  ])
  return found.flat()
}

/** The checks of one client. */
interface Checks {
  readonly running: SingleFlight<CheckResult>
  latest?: { readonly result: CheckResult; readonly at: number }
}

const getChecks = perObject((_client: Application): Checks => ({ running: new SingleFlight() }))

/**
 * Checks the configuration, the session store and the provider: one check of a client at a time, whose result all callers share
 * for `LIFETIME`. Never throws.
 */
export async function check(application: Application): Promise<CheckResult> {
  const { clock } = application.settings
  const checks = getChecks(application)
  if (checks.latest && Math.abs(clock() - checks.latest.at) < LIFETIME) return checks.latest.result
  const conclude = (findings: readonly CheckFinding[]): CheckResult => {
    const result = deepFreeze({ ready: findings.every(({ level }) => level !== 'failed'), findings })
    checks.latest = { result, at: clock() }
    return result
  }
  let engine: ApiEngine
  try {
    engine = application.apiEngine()
  } catch (error) {
    return conclude([toCheckFinding('failed', error)])
  }
  // Metadata and keys one after the other, and the store beside them.
  const patience = 2 * engine.config.httpTimeout
  return checks.running.run('', async () => conclude(await findProblems(engine)), patience)
}
