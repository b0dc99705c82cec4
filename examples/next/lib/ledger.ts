import type { Order, Receipt } from './bank'
import { account } from './bank'

declare global {
  var exampleLedger: Map<string, number> | undefined
}

// Next loads this module once for pages and once for route handlers, hence the global object.
globalThis.exampleLedger ??= new Map()

/** Amounts that users have transferred since the server started, in cents, by subject. */
const spent: Map<string, number> = globalThis.exampleLedger

/** Returns the balance of a user's account in cents. */
export function getBalance(sub: string): number {
  return account.cents - (spent.get(sub) ?? 0)
}

/** Books a transfer. Returns its receipt, or a message that says why it is refused. */
export function book(sub: string, order: Order): Receipt | string {
  if (order.cents > getBalance(sub)) return 'The amount exceeds your balance.'
  spent.set(sub, (spent.get(sub) ?? 0) + order.cents)
  const number = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0
  const made = new Date().toISOString().slice(0, 10)
  return { ...order, id: `T-${String(number % 1_000_000).padStart(6, '0')}`, made }
}
