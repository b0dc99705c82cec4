'use server'

import { isIdpError } from 'idp-client/next'
import { revalidatePath } from 'next/cache'
import { idp } from '../../lib/auth'
import { connectionLabel, connections } from '../../lib/connections'
import { formatTime } from '../../lib/format'
import { tokenFormat } from '../../lib/inspect'

/** A token as one may show it: whoever holds the token itself can use it. */
export type TokenResult =
  | {
      readonly kind: 'token'
      readonly label: string
      readonly format: string
      readonly length: number
      readonly scope: string
      readonly expires: string
    }
  | { readonly kind: 'failed'; readonly message: string }

/** Disconnects an account of the visitor; what to tell afterwards. */
export async function disconnect(_previous: string, form: FormData): Promise<string> {
  try {
    const accounts = await idp.listConnectedAccounts()
    const account = accounts.find(({ id }) => id === form.get('id'))
    if (account) await idp.deleteConnectedAccount(account)
    revalidatePath('/accounts')
    return account
      ? `${connectionLabel(account.connection)} is disconnected.`
      : 'That account was disconnected already.'
  } catch (error) {
    return explain(error)
  }
}

/** Asks for a token of a connected account, and describes it. */
export async function describeToken(_previous: TokenResult | null, form: FormData): Promise<TokenResult> {
  const connection = connections.find(({ name }) => name === form.get('connection'))
  if (!connection) return { kind: 'failed', message: 'Choose one of the accounts.' }
  try {
    const { token, expiresAt, scope } = await idp.getAccessTokenForConnection({ connection: connection.name })
    return {
      kind: 'token',
      label: connection.label,
      format: tokenFormat(token),
      length: token.length,
      scope: scope ?? '–',
      expires: formatTime(expiresAt),
    }
  } catch (error) {
    return { kind: 'failed', message: explain(error) }
  }
}

function explain(error: unknown): string {
  if (!isIdpError(error)) throw error
  if (error.code === 'MISSING_SESSION') return 'Your session has ended. Log in again.'
  return 'The provider does not do that right now. Try again in a moment.'
}
