import { afterEach, beforeEach, expect, test } from 'vitest'
import { engineFor } from '../../test/support/engine.ts'
import type { ApiEngine } from '../engine.ts'
import { processWide } from '../lib/registry.ts'
import { takeProof } from './used-proofs.ts'

const LIMIT = 100_000
/** Seconds for which a proof could be accepted again, with the default tolerance. */
const LIFETIME = 241

/** Takes a proof for a request of its own. */
const take = (engine: ApiEngine, name: string) => takeProof(engine, { slots: {} }, name)

const clear = (): void => processWide('mark:dpop-proofs/1', () => new Map<string, number>()).clear()
beforeEach(clear)
afterEach(clear)

test('a proof is used once, until it would be too old anyway', async () => {
  const { clock, engine } = engineFor()
  expect(await take(engine, 'one')).toBe(true)
  clock.now += LIFETIME - 1
  expect(await take(engine, 'one')).toBe(false)
})

test('a full memory forgets only proofs that are too old, and refuses others as undecided', async () => {
  const { clock, engine } = engineFor()
  const { engine: patient } = engineFor({ dpopOptions: { clockTolerance: 3600 } })
  // Of a client with another tolerance: it stays in front of those that end before.
  await take(patient, 'long')
  for (let at = 1; at < LIMIT; at++) await take(engine, `proof-${at}`)
  await expect(take(engine, 'further')).rejects.toMatchObject({ code: 'TOKEN_UNDECIDED' })
  expect(await take(engine, 'proof-1')).toBe(false)
  clock.now += LIFETIME
  expect(await take(engine, 'further')).toBe(true)
  expect(await take(engine, 'long')).toBe(false)
})
