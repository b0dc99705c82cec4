'use client'

import { useEffect, useState } from 'react'
import { formatDuration } from '../../lib/format'

interface CountdownProps {
  /** Seconds since the epoch. */
  readonly expiresAt: number
  /** Calculated on the server, so that the first render in the browser matches. */
  readonly secondsLeft: number
}

export function Countdown({ expiresAt, secondsLeft }: CountdownProps) {
  const [seconds, setSeconds] = useState(secondsLeft)
  useEffect(() => {
    const tick = () => setSeconds(Math.floor(expiresAt - Date.now() / 1000))
    tick()
    const timer = setInterval(tick, 1000)
    return () => clearInterval(timer)
  }, [expiresAt])
  return <span role="timer">{seconds > 0 ? formatDuration(seconds) : 'expired'}</span>
}
