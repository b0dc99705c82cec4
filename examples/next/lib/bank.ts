/** The API behind the transfers: it serves those only who proved a further factor lately. */
export const bank = { audience: 'https://bank.example.test/', scope: 'transfer:money' } as const

export const account = { name: 'Current account', number: 'DE89 … 3000', cents: 125_000 }

export const payees = ['Anna’s bakery', 'Electricity company', 'Savings account'] as const

export type Payee = (typeof payees)[number]

export interface Order {
  readonly payee: Payee
  readonly cents: number
}

export interface Receipt extends Order {
  readonly id: string
  /** `2026-11-08` */
  readonly made: string
}

/** What was filled in, or what is wrong with it. */
export function readOrder(payee: unknown, amount: unknown): Order | string {
  const known = payees.find((one) => one === payee)
  if (!known) return 'Choose who gets the money.'
  const isNumber = typeof amount === 'string' && /^\d{1,6}(?:\.\d{1,2})?$/.test(amount.trim())
  const cents = isNumber ? Math.round(Number(amount) * 100) : 0
  if (cents === 0) return 'Enter an amount such as 25 or 25.50.'
  if (cents > account.cents) return 'That is more than there is in the account.'
  return { payee: known, cents }
}

/** What the bank would answer; this one moves no money. */
export function receiptFor(order: Order): Receipt {
  const number = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0
  const made = new Date().toISOString().slice(0, 10)
  return { ...order, id: `T-${String(number % 1_000_000).padStart(6, '0')}`, made }
}
