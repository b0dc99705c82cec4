import { expect, test } from 'vitest'
import { engineFor } from '../../test/support/engine.ts'
import type { ApiEngine } from '../engine.ts'
import { processWide } from '../lib/registry.ts'
import { UsedNames } from '../lib/used-names.ts'
import { takeProof } from './used-proofs.ts'

/** Seconds for which a proof could be accepted again, with the default tolerance. */
const LIFETIME = 241

/** Takes a proof for a request of its own. */
const take = (engine: ApiEngine, name: string) => takeProof(engine, { slots: {} }, name)

test('a proof is used once, until it would be too old anyway', async () => {
  const { clock, engine } = engineFor()
  expect(await take(engine, 'one')).toBe(true)
  clock.now += LIFETIME - 1
  expect(await take(engine, 'one')).toBe(false)
})

test('a request that brings another proof does not share the result of its first one', async () => {
  const { engine } = engineFor()
  const request = { slots: {} }
  expect(await take(engine, 'earlier')).toBe(true)
  expect(await takeProof(engine, request, 'new')).toBe(true)
  expect(await takeProof(engine, request, 'earlier')).toBe(false)
})

test('a proof for which the memory of the process has no room is undecided', async () => {
  const names = processWide('mark:dpop-proofs/2', () => new UsedNames())
  const { clock, engine } = engineFor()
  let count = 0
  const time = { expiresAt: clock.now + LIFETIME, now: clock.now }
  while (names.take(`proof ${count}`, time)) count++
  await expect(take(engine, 'further')).rejects.toMatchObject({ code: 'TOKEN_UNDECIDED' })
  expect(await take(engine, 'proof 1')).toBe(false)
})
