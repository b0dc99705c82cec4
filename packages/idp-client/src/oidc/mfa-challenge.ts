import type { MfaChallenge } from '../errors/error-state.ts'
import type { MfaRequirements } from '../errors/mfa.ts'
import { defined } from '../lib/defined.ts'
import type { JsonObject } from './json.ts'
import { isObject, stringProperty } from './json.ts'

type ChallengeTypes = MfaRequirements['challenge']

/** Maximum number of challenge types, far above any provider's, so that the sealed token stays small. */
const TYPE_LIMIT = 20
/** Maximum length in characters, far above any real token. */
const TOKEN_LENGTH = 8192
/** Characters of a header value: the token is sent as a bearer token. */
const TOKEN = /^[\x21-\x7e]+$/

const isSendable = (token: string): boolean => token.length <= TOKEN_LENGTH && TOKEN.test(token)

function readTypes(value: unknown): ChallengeTypes {
  if (!Array.isArray(value)) return undefined
  const types = value.flatMap((entry) => (isObject(entry) ? [stringProperty(entry, 'type')] : []))
  return types
    .filter((type): type is string => type !== undefined && /^[\w:./-]{1,64}$/.test(type))
    .slice(0, TYPE_LIMIT)
    .map((type) => ({ type }))
}

function readRequirements(value: unknown): MfaRequirements | undefined {
  if (!isObject(value)) return undefined
  const [challenge, enroll] = [readTypes(value['challenge']), readTypes(value['enroll'])]
  return challenge || enroll ? defined({ challenge, enroll }) : undefined
}

/** Reads the MFA challenge from the body of an `mfa_required` error. */
export function readMfaChallenge(body: JsonObject): MfaChallenge {
  const token = stringProperty(body, 'mfa_token')
  return defined({
    token: token !== undefined && isSendable(token) ? token : undefined,
    requirements: readRequirements(body['mfa_requirements']),
  })
}
