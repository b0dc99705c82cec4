'use server'

import { isIdpError } from 'idp-client/next'
import { idp } from '../../lib/auth'
import type { Receipt } from '../../lib/bank'
import { bank, parseOrder } from '../../lib/bank'
import { book } from '../../lib/ledger'
import type { MfaChallenge } from '../../lib/second-factor'
import { toMfaChallenge } from '../../lib/second-factor'

export type TransferResult =
  | { readonly kind: 'done'; readonly receipt: Receipt }
  | { readonly kind: 'factor'; readonly challenge: MfaChallenge }
  | { readonly kind: 'failed'; readonly message: string }

/** Transfers money if the provider issues a token for the bank; otherwise returns the second factor that it requires. */
export async function transfer(payee: string, amount: string): Promise<TransferResult> {
  const order = parseOrder(payee, amount)
  if (typeof order === 'string') return { kind: 'failed', message: order }
  try {
    await idp.getAccessToken(bank)
  } catch (error) {
    const challenge = toMfaChallenge(error)
    return challenge ? { kind: 'factor', challenge } : { kind: 'failed', message: explain(error) }
  }
  const session = await idp.getSession()
  const receipt = session ? book(session.user.sub, order) : signedOut
  return typeof receipt === 'string' ? { kind: 'failed', message: receipt } : { kind: 'done', receipt }
}

const signedOut = 'You are signed out. Log in and try again.'

function explain(error: unknown): string {
  if (!isIdpError(error)) throw error
  if (error.code === 'MISSING_SESSION') return signedOut
  if (error.code === 'MISSING_REFRESH_TOKEN') return 'Your access has expired. Log out and log in again.'
  return 'The provider did not issue an access token. No money was transferred.'
}
