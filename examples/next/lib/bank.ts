/** The API for transfers. The provider issues a token for it only after a recent second factor. */
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

/** Returns the order in a form, or a message that says what is wrong with it. */
export function parseOrder(payee: unknown, amount: unknown): Order | string {
  const known = payees.find((one) => one === payee)
  if (!known) return 'Choose a recipient.'
  const isNumber = typeof amount === 'string' && /^\d{1,6}(?:\.\d{1,2})?$/.test(amount.trim())
  const cents = isNumber ? Math.round(Number(amount) * 100) : 0
  return cents === 0 ? 'Enter an amount such as 25 or 25.50.' : { payee: known, cents }
}
