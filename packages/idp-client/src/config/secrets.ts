import type { Field, Source } from './readers.ts'
import { getField, invalid, isPresent, missing, toName } from './readers.ts'

const shortest = 32

function isWeak(secret: string): boolean {
  return secret.length < shortest || new Set(secret).size === 1
}

/** A comma may be part of one secret: it separates only when every part could be a secret by itself. */
export function splitSecrets(text: string): readonly string[] {
  const parts = text.split(',').map((part) => part.trim())
  return parts.every((part) => part.length >= shortest) ? parts : [text]
}

function candidates(field: Field): readonly unknown[] {
  // A blank former secret counts as absent. The first one is required, because it encrypts.
  if (Array.isArray(field.given)) return field.given.filter((entry, index) => index === 0 || isPresent(entry))
  if (isPresent(field.given)) return [field.given]
  return field.text === undefined ? [] : splitSecrets(field.text)
}

const fix = "'npx idp-client secret' prints one (64 hexadecimal digits)"

/** The cookie secrets, newest first. A weak one counts as missing: nothing is ever encrypted with it. */
export function resolveSecrets(source: Source): readonly [string, ...string[]] | undefined {
  const field = getField('secret', source)
  const secrets: string[] = []
  for (const given of candidates(field)) {
    if (typeof given !== 'string') return invalid(field, 'must be a string or a list of strings')
    const candidate = given.trim()
    if (isWeak(candidate)) {
      source.addIssue(
        'missing',
        `${toName(field)} is too weak and counts as missing: use at least ${shortest} characters that are not all the same; ` +
          `${fix}.`,
      )
      return undefined
    }
    if (!secrets.includes(candidate)) secrets.push(candidate)
  }
  const [first, ...others] = secrets
  if (first !== undefined) return [first, ...others]
  return missing(field, `; ${fix}`)
}
