import type { Remedy } from './remedy.ts'

const GUIDE = 'https://github.com/idp-client/idp-client/blob/main/docs/guides/troubleshooting.md'

/** Returns the URL of the section about a remedy; browsers scroll to its name, which is in the heading. */
export function toGuideUrl(remedy: Remedy): string {
  return `${GUIDE}#:~:text=${remedy}`
}
