'use server'

import { isIdpError } from 'idp-client/next'
import { revalidatePath } from 'next/cache'
import { idp } from '../../lib/auth'
import { connectionLabel, connections } from '../../lib/connections'
import { formatTime } from '../../lib/format'
import { tokenFormat } from '../../lib/inspect'

export type AccountResult =
  | { readonly kind: 'told'; readonly message: string }
  /** A token as one may show it: whoever holds the token itself can use it. */
  | {
      readonly kind: 'token'
      readonly label: string
      readonly format: string
      readonly length: number
      readonly scope: string
      readonly expires: string
    }

/** Disconnects an account of the visitor, or asks for a token of one; what to tell afterwards. */
export async function changeAccount(_previous: AccountResult | null, form: FormData): Promise<AccountResult> {
  const [id, connection] = [form.get('disconnect'), form.get('token')]
  try {
    return id === null ? await describeToken(connection) : told(await disconnect(id))
  } catch (error) {
    if (!isIdpError(error)) throw error
    const isOut = error.code === 'MISSING_SESSION'
    return told(
      isOut
        ? 'Your session has ended. Log in again.'
        : 'The provider does not do that right now. Try again in a moment.',
    )
  }
}

async function disconnect(wanted: FormDataEntryValue): Promise<string> {
  const account = (await idp.listConnectedAccounts()).find(({ id }) => id === wanted)
  if (account) await idp.deleteConnectedAccount(account)
  revalidatePath('/accounts')
  return account
    ? `${connectionLabel(account.connection)} is disconnected.`
    : 'That account was disconnected already.'
}

async function describeToken(wanted: FormDataEntryValue | null): Promise<AccountResult> {
  const connection = connections.find(({ name }) => name === wanted)
  if (!connection) return told('Choose one of the accounts.')
  const { token, expiresAt, scope } = await idp.getAccessTokenForConnection({ connection: connection.name })
  return {
    kind: 'token',
    label: connection.label,
    format: tokenFormat(token),
    length: token.length,
    scope: scope ?? '–',
    expires: formatTime(expiresAt),
  }
}

function told(message: string): AccountResult {
  return { kind: 'told', message }
}
