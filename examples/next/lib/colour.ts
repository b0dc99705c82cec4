/** The accent colours of this site; the chosen one lives in the session. */
export const colours = ['indigo', 'teal', 'plum', 'amber'] as const

export type Colour = (typeof colours)[number]

export const defaultColour: Colour = 'indigo'

export function isColour(value: unknown): value is Colour {
  return colours.some((colour) => colour === value)
}

/** Values that an application adds to the session are `unknown` and have to be validated. */
export function readColour(session: Readonly<Record<string, unknown>> | null): Colour {
  const chosen = session?.['favouriteColour']
  return isColour(chosen) ? chosen : defaultColour
}
