/** A fresh name for one request, shown to the visitor and written into the log, so that the two can be matched. */
export function newCorrelationId(): string {
  return crypto.randomUUID()
}
