export function Loading() {
  return (
    <p role="status" className="loading">
      Loading…
    </p>
  )
}
