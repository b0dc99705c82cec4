/** Returns a new id for one request, shown to the user and written to the log, so that the two can be matched. */
export function newCorrelationId(): string {
  return crypto.randomUUID()
}
