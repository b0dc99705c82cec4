'use server'

import { isIdpError } from 'idp-client/next'
import { revalidatePath } from 'next/cache'
import { idp } from '../../lib/auth'
import { connectionLabel, connections } from '../../lib/connections'
import { formatTime } from '../../lib/format'
import { tokenFormat } from '../../lib/inspect'

export type AccountResult =
  | { readonly kind: 'message'; readonly message: string }
  /** A description of a token, without the token: anyone who has it can use it. */
  | {
      readonly kind: 'token'
      readonly label: string
      readonly format: string
      readonly length: number
      readonly scope: string
      readonly expires: string
    }

/** Disconnects an account of the user, or gets an access token for it. */
export async function changeAccount(_previous: AccountResult | null, form: FormData): Promise<AccountResult> {
  const [id, connection] = [form.get('disconnect'), form.get('token')]
  try {
    return id === null ? await describeToken(connection) : message(await disconnect(id))
  } catch (error) {
    if (!isIdpError(error)) throw error
    const isSignedOut = error.code === 'MISSING_SESSION'
    return message(
      isSignedOut
        ? 'Your session has ended. Log in again.'
        : 'The provider rejected the request. Try again in a moment.',
    )
  }
}

async function disconnect(accountId: FormDataEntryValue): Promise<string> {
  const account = (await idp.listConnectedAccounts()).find(({ id }) => id === accountId)
  if (account) await idp.deleteConnectedAccount(account)
  revalidatePath('/accounts')
  return account
    ? `${connectionLabel(account.connection)} is disconnected.`
    : 'This account was already disconnected.'
}

async function describeToken(connectionName: FormDataEntryValue | null): Promise<AccountResult> {
  const connection = connections.find(({ name }) => name === connectionName)
  if (!connection) return message('Choose one of the accounts.')
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

function message(text: string): AccountResult {
  return { kind: 'message', message: text }
}
