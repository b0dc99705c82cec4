import { toAdvice, toGuideUrl } from './advice.ts'
import type { IdpError } from './base.ts'
import { diagnose } from './diagnosis.ts'
import type { Remedy } from './remedy.ts'

/** Something that is wrong with the set-up. Contains no secret, and no text of the provider or of a user. */
export interface Finding<FindingCode extends string = Remedy> {
  /** Names the cause: a section of the guide at `page`. */
  readonly code: FindingCode
  /** The mistake: sentences of the library with names, addresses and numbers of the configuration. */
  readonly message: string
  /** How to fix it. */
  readonly advice: string
  /** URL of the section about it. */
  readonly page: string
}

/** Creates the finding of a remedy. */
export function createFinding(remedy: Remedy, message: string): Finding {
  const { advice, remedy: code } = toAdvice(remedy, undefined)
  return { code, message, advice, page: toGuideUrl(code) }
}

/** Returns the finding for an error: the same cause, fix and page as in its log line. */
export function toFinding(error: IdpError): Finding {
  const { advice, detail, remedy } = diagnose(error)
  return { code: remedy, message: detail, advice, page: toGuideUrl(remedy) }
}
