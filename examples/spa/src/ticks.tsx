import { useUser } from 'idp-client/react'
import { useEffect, useState } from 'react'

/** Shows the numbers that the API sends. */
export function Ticks() {
  const { invalidate } = useUser()
  const [tick, setTick] = useState<string>()

  useEffect(() => {
    const events = new EventSource('/api/orders/events')
    events.addEventListener('tick', ({ data }) => setTick(data))
    // After a lost connection the browser connects again by itself, but not after a refusal: the session may have ended.
    events.addEventListener('error', () => {
      if (events.readyState === EventSource.CLOSED) void invalidate()
    })
    return () => events.close()
  }, [invalidate])

  return <p>{tick === undefined ? 'Connecting…' : `Connected, event ${tick}`}</p>
}
