import { afterEach, beforeEach, expect, test } from 'vitest'
import { engineFor } from '../../test/support/engine.ts'
import { processWide } from '../lib/registry.ts'
import { rememberProof } from './used-proofs.ts'

const LIMIT = 100_000
/** Seconds for which a proof could be accepted again, with the default tolerance. */
const LIFETIME = 241

const clear = (): void => processWide('mark:dpop-proofs/1', () => new Map<string, number>()).clear()
beforeEach(clear)
afterEach(clear)

test('a proof is used once, until it would be too old anyway', async () => {
  const { clock, engine } = engineFor()
  expect(await rememberProof(engine, 'one')).toBe(true)
  clock.now += LIFETIME - 1
  expect(await rememberProof(engine, 'one')).toBe(false)
})

test('a full memory forgets only proofs that are too old, and refuses others as undecided', async () => {
  const { clock, engine } = engineFor()
  const { engine: patient } = engineFor({ dpopOptions: { clockTolerance: 3600 } })
  // Of a client with another tolerance: it stays in front of those that end before.
  await rememberProof(patient, 'long')
  for (let at = 1; at < LIMIT; at++) await rememberProof(engine, `proof-${at}`)
  await expect(rememberProof(engine, 'further')).rejects.toMatchObject({ code: 'TOKEN_UNDECIDED' })
  expect(await rememberProof(engine, 'proof-1')).toBe(false)
  clock.now += LIFETIME
  expect(await rememberProof(engine, 'further')).toBe(true)
  expect(await rememberProof(engine, 'long')).toBe(false)
})
