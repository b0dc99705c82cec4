import type { DoctorFinding, Findings } from './findings.ts'

/** The output of `idp-client doctor --json`. */
export interface DoctorReport {
  readonly healthy: boolean
  readonly findings: Findings
  /** Sentences about what could not be checked. */
  readonly notes: readonly string[]
}

const toText = ({ advice, code, message, page }: DoctorFinding): string =>
  `${code}\n  ${message}\n  ${advice}\n  ${page}\n`

export function createReport(findings: Findings, notes: readonly string[]): DoctorReport {
  // Several checks may meet the same cause.
  const unique = new Map(findings.map((finding) => [`${finding.code} ${finding.message}`, finding]))
  return { healthy: unique.size === 0, findings: [...unique.values()], notes }
}

/** Returns a paragraph per finding; an empty string for a healthy set-up. */
export const printText = ({ findings }: DoctorReport): string => findings.map(toText).join('\n')

export const printJson = (report: DoctorReport): string => `${JSON.stringify(report, null, 2)}\n`
