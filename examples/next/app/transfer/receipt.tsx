import { useEffect, useRef } from 'react'
import type { Receipt as Booked } from '../../lib/bank'
import { formatDate, formatPrice } from '../../lib/format'

export function Receipt({ receipt, proof }: { receipt: Booked; proof: string }) {
  const { id, payee, cents, made } = receipt
  const section = useRef<HTMLElement>(null)
  // For keyboard and screen reader users the focus continues here.
  useEffect(() => section.current?.focus(), [])
  const facts = [
    ['To', payee],
    ['Amount', formatPrice(cents)],
    ['Date', formatDate(made)],
    ['Number', id],
    ['Confirmed by', proof],
  ] as const
  return (
    <section ref={section} tabIndex={-1} className="card card-done" aria-labelledby="receipt-title">
      <h2 id="receipt-title">Transfer done</h2>
      <dl className="facts">
        {facts.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
