import type { Config } from '../../config/config.ts'
import { createLog } from '../../log/log.ts'
import { probeStore } from '../../session/store/probe.ts'
import { checkApplication } from './application.ts'
import type { Findings } from './findings.ts'
import { findThrown } from './findings.ts'
import { probeProvider, toBaseUrls } from './probes.ts'
import { discover } from './provider.ts'
import type { DoctorReport } from './report.ts'
import { createReport } from './report.ts'
import type { Setup } from './setup.ts'
import { loadSetup } from './setup.ts'
import type { DoctorParameters, Variables } from './usage.ts'

/** The findings are the output: the library itself logs nothing. */
const silent = createLog(() => {})

/** Writes, reads and deletes a record. */
async function checkStore({ apiConfig, sessionStore }: Setup): Promise<Findings> {
  if (!apiConfig || !sessionStore) return []
  try {
    await probeStore(await sessionStore(), apiConfig)
    return []
  } catch (error) {
    return findThrown(error)
  }
}

/** Checks the provider, then the running application, then the store: each depends on what comes before. */
export async function checkSetup(setup: Setup, parameters: DoctorParameters): Promise<Findings> {
  const { app, probe, store } = parameters
  if (!setup.apiConfig) return []
  const config: Config | undefined = setup.config && { ...setup.config, log: silent }
  const { findings, metadata } = await discover(setup.apiConfig, config)
  const found = [...findings]
  if (config && metadata && probe) {
    const refused = await probeProvider(config, metadata, app)
    // Without what the metadata lacks, requests cannot succeed.
    found.push(...refused.filter(({ code }) => !findings.some((known) => known.code === code)))
  }
  if (config && app !== undefined)
    found.push(...(await checkApplication({ config, metadata, app, hasStore: store })))
  if (store) found.push(...(await checkStore(setup)))
  return found
}

/** Returns a sentence for each check that the parameters ask for and the set-up has nothing for. */
function findUnchecked(
  { apiConfig, config, sessionStore }: Setup,
  { app, probe, store }: DoctorParameters,
): readonly string[] {
  if (!apiConfig) return []
  const isWithoutUrl = config && probe && toBaseUrls(config, app).length === 0
  return [
    isWithoutUrl &&
      'The base URL follows from requests, so redirect URI and logout were not checked: name it by --app.',
    store && !sessionStore && 'The client has no session store: --store had nothing to check.',
    app !== undefined && !config && 'The client has no sessions: --app had nothing to check.',
  ].filter((note) => typeof note === 'string')
}

/** Examines the set-up of an application. */
export async function examine(parameters: DoctorParameters, variables: Variables): Promise<DoctorReport> {
  const setup = await loadSetup(parameters, variables)
  const found = await checkSetup(setup, parameters)
  return createReport([...setup.findings, ...found], findUnchecked(setup, parameters))
}
