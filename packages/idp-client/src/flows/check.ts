import type { ApiEngine, Application } from '../engine.ts'
import type { IdpError } from '../errors/base.ts'
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

type Step = (engine: ApiEngine) => Promise<void>

const checkStore: Step = async ({ config, sessionStore }) => {
  const store = await sessionStore?.()
  if (store) await probeStore(store, config)
}

const checkProvider: Step = ({ config }) => getPublicProvider(config).reload()

const steps: readonly (readonly [CheckFinding['level'], Step])[] = [
  ['failed', checkStore],
  ['degraded', checkProvider],
]

async function findProblem(
  engine: ApiEngine,
  level: CheckFinding['level'],
  step: Step,
): Promise<readonly CheckFinding[]> {
  try {
    await step(engine)
    return []
  } catch (error) {
    return [{ level, ...toFinding(asIdpError(error)) }]
  }
}

function toResult(findings: readonly CheckFinding[]): CheckResult {
  return deepFreeze({ ready: findings.every(({ level }) => level !== 'failed'), findings })
}

/** The checks of one client. */
interface Checks {
  readonly running: SingleFlight<CheckResult>
  latest?: { readonly result: CheckResult; readonly at: number }
}

const getChecks = perObject((_client: Application): Checks => ({ running: new SingleFlight() }))

function toEngine(application: Application): ApiEngine | IdpError {
  try {
    return application.apiEngine()
  } catch (error) {
    return asIdpError(error)
  }
}

async function perform(engine: ApiEngine | IdpError): Promise<CheckResult> {
  if (engine instanceof Error) return toResult([{ level: 'failed', ...toFinding(engine) }])
  const found = await Promise.all(steps.map(([level, step]) => findProblem(engine, level, step)))
  return toResult(found.flat())
}

/**
 * Checks the configuration, the session store and the provider: one check of a client at a time, whose result all callers share
 * for `LIFETIME`. Never throws.
 */
export async function check(application: Application): Promise<CheckResult> {
  const { clock } = application.settings
  const checks = getChecks(application)
  const { latest, running } = checks
  if (latest && Math.abs(clock() - latest.at) < LIFETIME) return latest.result
  const engine = toEngine(application)
  // Metadata and keys one after the other, and the store beside them.
  const patience = engine instanceof Error ? 0 : 2 * engine.config.httpTimeout
  return running.run(
    '',
    async () => {
      const result = await perform(engine)
      checks.latest = { result, at: clock() }
      return result
    },
    patience,
  )
}
