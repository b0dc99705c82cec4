'use client'

import { useActionState } from 'react'
import { useHydrated } from '../../components/use-hydrated'
import type { Colour } from '../../lib/colour'
import { colours } from '../../lib/colour'
import { saveColour } from './actions'

export function ColourForm({ current }: { current: Colour }) {
  const [result, action, isPending] = useActionState(saveColour, null)
  const isBusy = !useHydrated() || isPending
  return (
    <form action={action} className="card">
      <fieldset>
        <legend>Favourite colour</legend>
        <div className="swatches">
          {colours.map((colour) => (
            <label className="swatch" data-accent={colour} key={colour}>
              <input type="radio" name="colour" value={colour} defaultChecked={colour === current} />
              <span aria-hidden="true" className="swatch-dot" />
              {colour}
            </label>
          ))}
        </div>
      </fieldset>
      <p className="actions">
        <button className="button button-primary" type="submit" disabled={isBusy}>
          {isPending ? 'Saving…' : 'Save'}
        </button>
        <span role={result && !result.saved ? 'alert' : 'status'}>{result?.message}</span>
      </p>
    </form>
  )
}
