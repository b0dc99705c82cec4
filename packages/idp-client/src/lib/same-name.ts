/**
 * Returns whether Unicode defines the character only for compatibility with other character sets, beside an equal one: the
 * signs of Kelvin, Ångström and Ohm, for example. The other case of a letter does not count.
 */
function isCompatibilityCharacter(character: string): boolean {
  const equal = character.normalize('NFC')
  if (equal !== character && [...equal].length === 1) return true
  const [compatible, small] = [character.normalize('NFKC'), character.toLowerCase()]
  return compatible !== character && small !== character && small.normalize('NFKC') === small
}

/** Returns the name in lower case, except its compatibility characters. */
function toComparable(name: string): string {
  const parts: string[] = []
  let text = ''
  for (const character of name) {
    if (isCompatibilityCharacter(character)) {
      parts.push(text, character)
      text = ''
    } else text += character
  }
  const spelled = [...parts, text].map((part, at) => (at % 2 ? part : part.normalize('NFC').toLowerCase()))
  return JSON.stringify(spelled)
}

/** Returns whether two names are equal except for case. A compatibility character equals only itself. */
export function isSameName(one: string, other: string): boolean {
  return toComparable(one) === toComparable(other)
}
