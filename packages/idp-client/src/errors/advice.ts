import type { Code } from './code.ts'
import { DOCS, remedies } from './remedies.ts'
import type { Remedy } from './remedy.ts'

/** A row of the troubleshooting guide, and its fix in one sentence. */
export interface Advice {
  readonly remedy: Remedy
  readonly advice: string
}

/**
 * Returns a remedy and its fix. An error of another copy of the package may name a remedy that this one does not have:
 * then those of the code.
 */
export function toAdvice(remedy: Remedy, code: Code | undefined): Advice {
  const known = Object.hasOwn(remedies, remedy) ? remedy : (code ?? remedy)
  return { remedy: known, advice: remedies[known] }
}

/** Returns the URL of the section about a remedy: its anchor, and its name, to which browsers scroll where the page has no anchors. */
export function toGuideUrl(remedy: Remedy): string {
  return `${DOCS}/guides/troubleshooting.md#${remedy}:~:text=${remedy}`
}
