'use server'

import { isIdpError } from 'idp-client/next'
import { idp } from '../../lib/auth'
import type { Receipt } from '../../lib/bank'
import { bank, readOrder, receiptFor } from '../../lib/bank'
import type { Demand } from '../../lib/second-factor'
import { demandOf } from '../../lib/second-factor'

export type TransferResult =
  | { readonly kind: 'done'; readonly receipt: Receipt }
  | { readonly kind: 'factor'; readonly demand: Demand }
  | { readonly kind: 'failed'; readonly message: string }

/** Transfers money if the provider hands out a token for the bank; else what the visitor has to do first. */
export async function transfer(payee: string, amount: string): Promise<TransferResult> {
  const order = readOrder(payee, amount)
  if (typeof order === 'string') return { kind: 'failed', message: order }
  try {
    await idp.getAccessToken(bank)
    return { kind: 'done', receipt: receiptFor(order) }
  } catch (error) {
    const demand = demandOf(error)
    if (demand) return { kind: 'factor', demand }
    return { kind: 'failed', message: explain(error) }
  }
}

function explain(error: unknown): string {
  if (!isIdpError(error)) throw error
  if (error.code === 'MISSING_SESSION') return 'You are signed out. Log in and try again.'
  if (error.code === 'MISSING_REFRESH_TOKEN') return 'Your access has expired. Log out and log in again.'
  return 'The provider gives no access right now. Nothing was transferred.'
}
