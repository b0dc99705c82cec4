const dateAndTime = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeStyle: 'medium',
  timeZone: 'UTC',
})

const dateAndMinute = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeStyle: 'short',
  timeZone: 'UTC',
})

const date = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })

const euros = new Intl.NumberFormat('en-GB', { style: 'currency', currency: 'EUR' })

const integer = new Intl.NumberFormat('en-GB')

/** `21 Nov 2026, 02:04:05 UTC` */
export function formatTime(epochSeconds: number): string {
  return `${dateAndTime.format(epochSeconds * 1000)} UTC`
}

/** `21 Nov 2026, 02:04 UTC` */
export function formatMinute(epochSeconds: number): string {
  return `${dateAndMinute.format(epochSeconds * 1000)} UTC`
}

/** `8 Nov 2026` for `2026-11-08` */
export function formatDate(isoDate: string): string {
  return date.format(Date.parse(isoDate))
}

/** `€54.00` */
export function formatPrice(cents: number): string {
  return euros.format(cents / 100)
}

export function formatNumber(value: number): string {
  return integer.format(value)
}

/** `2 d 3 h`, `1 h 5 min`, `4 min 3 s`: the two largest units. */
export function formatDuration(seconds: number): string {
  const units: [name: string, size: number][] = [
    ['d', 86_400],
    ['h', 3_600],
    ['min', 60],
    ['s', 1],
  ]
  const largest = units.findIndex(([, size]) => seconds >= size)
  if (largest < 0) return '0 s'
  return units
    .slice(largest, largest + 2)
    .map(([name, size], index) => {
      const within = index === 0 ? seconds : seconds % (units[largest]?.[1] ?? 1)
      return `${Math.floor(within / size)} ${name}`
    })
    .join(' ')
}

/** Returns `AL` for Alice Liddell, and one letter for a single word. */
export function initials(name: string): string {
  const words = name.split(/[\s@._-]+/).filter((word) => word !== '')
  const chosen = words.length > 1 ? [words.at(0), words.at(-1)] : words
  return chosen
    .map((word) => Array.from(word ?? '')[0] ?? '')
    .join('')
    .toUpperCase()
}
