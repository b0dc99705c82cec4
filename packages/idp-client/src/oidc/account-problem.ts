import type { AccountApiFailure, AccountApiValidationError } from '../errors/connected-accounts.ts'
import type { JsonObject } from './json.ts'
import { isObject, stringMember } from './json.ts'
import { descriptionText } from './translate.ts'

const ENTRIES = 20

/** The members of these names that are text; bounded, and still untrusted. */
function pickStrings<Name extends string>(
  object: JsonObject,
  names: readonly Name[],
): { [Key in Name]?: string } {
  const texts = names.flatMap((name) => {
    const text = descriptionText(stringMember(object, name))
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

/** What an answer of the account API says about its failure: problem JSON (RFC 9457), or nothing that can be read. */
export function readProblem(status: number, body: JsonObject | null): AccountApiFailure {
  if (!body) return { status }
  const errors = validationErrors(body['validation_errors'])
  return {
    status,
    ...pickStrings(body, ['type', 'title', 'detail']),
    ...(errors.length > 0 ? { validationErrors: errors } : {}),
  }
}
