'use server'

import { idp } from '../../lib/auth'
import { isColour } from '../../lib/colour'

export interface SaveResult {
  readonly saved: boolean
  readonly message: string
}

/** Server actions are public endpoints, so this one checks the session and its input itself. */
export async function saveColour(_previous: SaveResult | null, form: FormData): Promise<SaveResult> {
  const session = await idp.getSession()
  if (!session) return { saved: false, message: 'Your session has ended. Log in again to save.' }
  const favouriteColour = form.get('colour')
  if (!isColour(favouriteColour)) return { saved: false, message: 'Choose one of the colours.' }
  await idp.updateSession({ ...session, favouriteColour })
  return { saved: true, message: `Saved: ${favouriteColour}.` }
}
