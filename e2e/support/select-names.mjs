/** Returns the names that a list, separated by commas, selects. An unknown one is an error. */
export function selectNames(list = 'all', known) {
  if (list === 'all') return known
  const unknown = list.split(',').filter((name) => !known.includes(name))
  if (unknown.length > 0) throw new Error(`unknown: ${unknown.join(', ')}; known: ${known.join(', ')}`)
  return list.split(',')
}
