import type { SessionAuth, TokenAuth } from './auth.ts'
import type { Resource } from './resource.ts'

/** An entry of `accept`: sessions, or the access tokens of a resource. */
export type AcceptEntry = 'session' | Resource

/** The caller that a guard lets pass: by `accept`, or without it by a session. */
export type AcceptedAuth<Entry extends AcceptEntry> = [Entry] extends [never]
  ? SessionAuth
  : Entry extends Resource<string, infer Claims>
    ? TokenAuth<Claims>
    : SessionAuth

/** The scopes of the resources in `accept`; any, if `idp.resource()` got none. */
export type AcceptedScope<Entry extends AcceptEntry> = [Entry] extends [never]
  ? string
  : Entry extends Resource<infer Scope>
    ? Scope
    : never
