/** Returns a new id for one request, shown to the user and logged, so that the two can be matched. */
export function newCorrelationId(): string {
  return crypto.randomUUID()
}
