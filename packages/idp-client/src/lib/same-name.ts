/**
 * Whether a character stands for another one that is not just its other case: the signs of Kelvin, Ångström and Ohm, and
 * every character that Unicode keeps beside an equal one for compatibility.
 */
function isCompatibilityCharacter(character: string): boolean {
  const equal = character.normalize('NFC')
  if (equal !== character && [...equal].length === 1) return true
  const [compatible, small] = [character.normalize('NFKC'), character.toLowerCase()]
  return compatible !== character && small !== character && small.normalize('NFKC') === small
}

/** The name in one spelling; characters that only look like letters stay what they are. */
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

/** Whether two strings are the same name. Case does not count. Characters that only look alike do. */
export function isSameName(one: string, other: string): boolean {
  return toComparable(one) === toComparable(other)
}
