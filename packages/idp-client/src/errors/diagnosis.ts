import { defined } from '../lib/objects.ts'
import { toAdvice } from './advice.ts'
import type { IdpError } from './base.ts'
import { isIdpError } from './base.ts'
import type { Code } from './code.ts'
import { codes } from './codes.ts'
import { registeredError } from './protocol-errors.ts'
import type { ProviderEndpoint } from './provider.ts'
import type { Remedy } from './remedy.ts'
import type { StoreOperation } from './session.ts'
import { fieldName } from './session.ts'

/**
 * The reportable facts about a failure: texts of the library, codes from closed sets, numbers, names of options and
 * session fields, the URL of discovery. Never text of the provider, of a request or of a user.
 */
export interface Diagnosis {
  readonly error: Code
  /** The failure and its reason: sentences of the library, and the facts. */
  readonly detail: string
  /** Names what helps: a row of the troubleshooting guide. */
  readonly remedy: Remedy
  /** The fix, in one sentence. */
  readonly advice: string
  readonly endpoint?: ProviderEndpoint
  /** The `error` that the provider responded, when it is a registered one, else `other`. */
  readonly providerError?: string
  /** HTTP status of the provider's response. */
  readonly status?: number
  /** How the system names the failure of a connection: `ECONNREFUSED`, `ENOTFOUND`, `CERT_HAS_EXPIRED`. */
  readonly systemCode?: string
  /** The URL of discovery, as it follows from the option `domain`. */
  readonly url?: string
  /** The operation of the session store. */
  readonly operation?: StoreOperation
  /** How the driver of the store names its failure: a code as `ECONNREFUSED` or `42P01`, else the class of the error. */
  readonly reason?: string
  /** The hook of the application that failed. */
  readonly hook?: string
  /** Class of what the application's code threw, or its type where that was no object. */
  readonly exception?: string
  /** With `SESSION_TOO_LARGE`: bytes of the session, and of its fields. */
  readonly bytes?: number
  readonly fields?: Readonly<Record<string, number>>
}

type Value = { readonly string: string; readonly number: number }

/** The first value of that name and type in the chain of causes. */
function find<Type extends keyof Value>(
  errors: readonly IdpError[],
  name: string,
  type: Type,
): Value[Type] | undefined {
  for (const error of errors) {
    const value: unknown = Reflect.get(error, name)
    if (typeof value === type) return value as Value[Type]
  }
  return undefined
}

function collectFields(errors: readonly IdpError[]): Diagnosis['fields'] {
  const error = errors.find(({ code }) => code === 'SESSION_TOO_LARGE')
  const fields = error && 'fields' in error ? error.fields : undefined
  if (typeof fields !== 'object' || fields === null) return undefined
  const sizes = new Map<string, number>()
  for (const [name, size] of Object.entries(fields)) {
    const known = fieldName(name)
    if (typeof size === 'number') sizes.set(known, (sizes.get(known) ?? 0) + size)
  }
  return Object.fromEntries(sizes)
}

/* Names of classes, and types where something else than an object was thrown. */
const CLASS = /^[A-Za-z_$][\w$]{0,40}$/

/** Returns the class name of a thrown value, without its message. */
export function toClassName(thrown: unknown): string {
  if (typeof thrown !== 'object' || thrown === null) return typeof thrown
  const kind: unknown = thrown.constructor
  return typeof kind === 'function' && CLASS.test(kind.name) ? kind.name : 'object'
}

/** Returns the exception of the application's own code, or an unexpected one. */
function foreignCause(errors: readonly IdpError[]): Pick<Diagnosis, 'exception'> {
  const error = errors.find(({ code }) => code === 'HOOK_FAILED' || code === 'INTERNAL_ERROR')
  return error && 'cause' in error ? { exception: toClassName(error.cause) } : {}
}

/**
 * Returns what may be reported about a failure, and its fix: the one place that decides it for events, the lines of the
 * default logger, and failure pages in development.
 */
export function diagnose(error: IdpError): Diagnosis {
  const errors = listCauses(error)
  const { code, remedy } = error
  const said = find(
    errors.filter(({ name }) => name === 'OAuthError'),
    'error',
    'string',
  )
  const fields = collectFields(errors)
  return {
    error: code,
    detail: describe(error),
    ...toAdvice(remedy, code),
    ...defined({
      endpoint: find(errors, 'endpoint', 'string') as ProviderEndpoint | undefined,
      providerError: said === undefined ? undefined : registeredError(said),
      status: find(errors, 'providerStatus', 'number'),
      systemCode: find(errors, 'systemCode', 'string'),
      url: find(errors, 'url', 'string'),
      operation: find(errors, 'operation', 'string') as StoreOperation | undefined,
      reason: find(errors, 'reason', 'string'),
      hook: find(errors, 'hook', 'string'),
      bytes: fields && find(errors, 'bytes', 'number'),
      fields,
    }),
    ...foreignCause(errors),
  }
}

/** The error and those of ours that caused it, the outermost first. */
export function listCauses(error: IdpError): readonly IdpError[] {
  const all: IdpError[] = []
  let current: unknown = error
  while (isIdpError(current) && all.length < 6) {
    all.push(current)
    current = current.cause
  }
  return all
}

/** Returns the sentence of the error's code, those of its causes, and the facts, also in production; without fixes. */
export function describe(error: IdpError): string {
  return listCauses(error).reduceRight((inner, { code, detail, message, name }) => {
    // `detail` of the account API's error is text of the provider.
    const facts = name === 'AccountApiError' ? undefined : detail
    return [codes[code]?.message ?? message, inner, facts].filter(Boolean).join(' ')
  }, '')
}
