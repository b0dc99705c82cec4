import { createSealer } from '../../src/crypto/seal.ts'
import { GUARD_PARAMETER } from '../../src/transaction/guard-login.ts'
import { SECRET } from './engine.ts'

type Parameters = Readonly<Record<string, string>>

/** Returns the query parameters of a guard's login with those that are sealed in them. */
export async function openLogin(
  { [GUARD_PARAMETER]: sealed, ...others }: Parameters,
  secret = SECRET,
): Promise<Parameters> {
  if (sealed === undefined) return others
  const bytes = await createSealer([secret]).open('guard', sealed)
  if (!bytes) throw new Error('the parameters of the guard do not open')
  const { p: required } = JSON.parse(Buffer.from(bytes).toString()) as { p: Parameters }
  return { ...others, ...required }
}
