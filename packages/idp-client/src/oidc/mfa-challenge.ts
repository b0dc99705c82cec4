import type { MfaRequirements } from '../errors/mfa.ts'
import type { MfaChallenge } from '../errors/mfa-challenge.ts'
import type { JsonObject } from './json.ts'
import { isObject, stringMember } from './json.ts'

type Kinds = MfaRequirements['challenge']

/** Far more than any provider has; what is sealed and handed out stays small. */
const KINDS = 20
/** Characters; far longer than any. */
const TOKEN_LENGTH = 8192
/** What a header can carry: the token is sent as a bearer token. */
const TOKEN = /^[\x21-\x7e]+$/

const isSendable = (token: string): boolean => token.length <= TOKEN_LENGTH && TOKEN.test(token)

function kindsIn(value: unknown): Kinds {
  if (!Array.isArray(value)) return undefined
  const types = value.flatMap((entry) => (isObject(entry) ? [stringMember(entry, 'type')] : []))
  return types
    .filter((type): type is string => type !== undefined && /^[\w:./-]{1,64}$/.test(type))
    .slice(0, KINDS)
    .map((type) => ({ type }))
}

function requirementsIn(value: unknown): MfaRequirements | undefined {
  if (!isObject(value)) return undefined
  const [challenge, enroll] = [kindsIn(value['challenge']), kindsIn(value['enroll'])]
  if (!challenge && !enroll) return undefined
  return { ...(challenge ? { challenge } : {}), ...(enroll ? { enroll } : {}) }
}

/** What the body of an answer with the error `mfa_required` demands. */
export function mfaChallengeIn(body: JsonObject): MfaChallenge {
  const token = stringMember(body, 'mfa_token')
  const requirements = requirementsIn(body['mfa_requirements'])
  return {
    ...(token !== undefined && isSendable(token) ? { token } : {}),
    ...(requirements ? { requirements } : {}),
  }
}
