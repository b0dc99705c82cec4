/** A rule of the contract that the host or store under test violates. */
export class ContractViolation extends Error {
  override readonly name = 'ContractViolation'
}

export function claim(condition: boolean, rule: string): asserts condition {
  if (!condition) throw new ContractViolation(rule)
}

/** Asserts equality by value, as JSON. */
export function claimEqual(actual: unknown, expected: unknown, rule: string): void {
  const [is, shouldBe] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (is !== shouldBe) throw new ContractViolation(`${rule}: expected ${shouldBe}, got ${is}`)
}
