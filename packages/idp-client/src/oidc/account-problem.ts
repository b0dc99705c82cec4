import type { AccountApiFailure, AccountApiValidationError } from '../errors/connected-accounts.ts'
import type { JsonObject } from './json.ts'
import { isObject, stringProperty } from './json.ts'
import { descriptionText } from './translate.ts'

const ENTRIES = 20

/** Returns those of the named properties that are strings; truncated, but still untrusted. */
function pickStrings<Name extends string>(
  object: JsonObject,
  names: readonly Name[],
): { [Key in Name]?: string } {
  const texts = names.flatMap((name) => {
    const text = descriptionText(stringProperty(object, name))
    return text === undefined ? [] : [[name, text] as const]
  })
  return Object.fromEntries(texts) as { [Key in Name]?: string }
}

function validationErrors(value: unknown): AccountApiValidationError[] {
  if (!Array.isArray(value)) return []
  return value
    .slice(0, ENTRIES)
    .filter((entry: unknown) => isObject(entry))
    .map((entry) => pickStrings(entry, ['field', 'detail', 'pointer', 'source']))
}

/**
 * Parses an error response of the account API (problem JSON, RFC 9457). Without a readable body only the status is
 * known.
 */
export function readProblem(providerStatus: number, body: JsonObject | null): AccountApiFailure {
  if (!body) return { providerStatus }
  const errors = validationErrors(body['validation_errors'])
  return {
    providerStatus,
    ...pickStrings(body, ['type', 'title', 'detail']),
    ...(errors.length > 0 ? { validationErrors: errors } : {}),
  }
}
