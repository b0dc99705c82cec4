import { expect, test } from 'vitest'
import { pause } from '../lib/pause.ts'
import type { Departure, OnOverdue, RedemptionQueue } from './turns.ts'
import { inTurn } from './turns.ts'

const turnsOf = (): RedemptionQueue => ({ current: undefined, inFlight: undefined })

function gate(): { promise: Promise<string>; open: (value: string) => void } {
  let open = (_value: string): void => {}
  const promise = new Promise<string>((resolve) => {
    open = resolve
  })
  return { promise, open: (value) => open(value) }
}

const late = new Error('late')

/** A redemption whose response is late from the beginning. */
function overdue(turns: RedemptionQueue, changes: Partial<Departure<string>> = {}, limit = 60_000) {
  const response = gate()
  const granted: number[] = []
  const run = (onOverdue: OnOverdue): Promise<string> => {
    granted.push(onOverdue(late, limit))
    return response.promise
  }
  const outcome = inTurn<string>(turns, { purpose: 'a', patience: 5000, run, ...changes })
  outcome.catch(() => {})
  return { granted, open: response.open, outcome }
}

test('what is for the same purpose runs once; the next turn begins when the one before has ended', async () => {
  const turns = turnsOf()
  const order: string[] = []
  const [first, second] = [gate(), gate()]
  const departure = (purpose: string, response: Promise<string>): Departure<string> => ({
    purpose,
    patience: 5000,
    run: () => {
      order.push(purpose)
      return response
    },
  })
  const flights = [
    inTurn(turns, departure('a', first.promise)),
    inTurn(turns, departure('a', first.promise)),
    inTurn(turns, departure('b', second.promise)),
  ]
  await pause(0)
  expect(order).toEqual(['a'])
  first.open('one')
  expect(await Promise.all(flights.slice(0, 2))).toEqual(['one', 'one'])
  second.open('two')
  expect(await flights[2]).toBe('two')
  expect(order).toEqual(['a', 'b'])
  expect(turns).toEqual({ current: undefined, flights: undefined })
})

test('[B11] callers in time are told that it is late, later ones get what it brings', async () => {
  const turns = turnsOf()
  const kept: string[] = []
  const { granted, open, outcome } = overdue(turns, { onLateLanding: (value) => void kept.push(value) })
  await expect(outcome).rejects.toBe(late)
  expect(granted).toEqual([15_000])
  const joining = inTurn<string>(turns, {
    purpose: 'a',
    patience: 5000,
    run: () => Promise.reject(new Error('again')),
  })
  const other = inTurn<string>(turns, { purpose: 'b', patience: 5000, run: async () => 'b' })
  open('tokens')
  expect(await joining).toBe('tokens')
  expect(await other).toBe('b')
  expect(kept).toEqual(['tokens'])
})

test('[B11] a later caller waits for its own time, and then nothing of it runs', async () => {
  const turns = turnsOf()
  const { open, outcome } = overdue(turns)
  await outcome.catch(() => {})
  let ran = 0
  const run = async (): Promise<string> => `${++ran}`
  for (const purpose of ['a', 'b'])
    await expect(inTurn(turns, { purpose, patience: 1, run })).rejects.toMatchObject({
      code: 'REQUEST_TIMEOUT',
    })
  open('tokens')
  expect(await inTurn(turns, { purpose: 'b', patience: 5000, run })).toBe('1')
})

test('[B11] it is waited for no longer than the lock lasts, once, and for at most a thousand responses', async () => {
  expect(overdue(turnsOf(), {}, 700).granted).toEqual([])
  const limited = overdue(turnsOf(), {}, 700)
  const over = overdue(turnsOf(), {}, -1)
  await pause(0)
  expect([limited.granted, over.granted]).toEqual([[700], [0]])
  const many = Array.from({ length: 1000 }, () => overdue(turnsOf()))
  await pause(0)
  const refused = many.filter(({ granted }) => granted[0] === 0)
  expect(refused).toHaveLength(2)
  for (const { open } of many) open('tokens')
  await Promise.allSettled(many.map(({ outcome }) => outcome))
  limited.open('tokens')
  await pause(0)
  const next = overdue(turnsOf())
  await pause(0)
  expect(next.granted).toEqual([15_000])
})
