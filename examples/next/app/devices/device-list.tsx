'use client'

import { useActionState } from 'react'
import { endSessions } from './actions'

export interface Device {
  /** Names the session; it cannot be used in its place. */
  readonly id: string
  readonly name: string
  readonly isCurrent: boolean
  readonly since: string
  readonly lastUsed: string
  /** When it ends if it is not used again. */
  readonly ends: string
}

export function DeviceList({ devices }: { devices: readonly Device[] }) {
  const [message, action, isEnding] = useActionState(endSessions, '')
  return (
    <form action={action} className="card">
      <table>
        <caption>Your sessions</caption>
        <thead>
          <tr>
            <th scope="col">Browser</th>
            <th scope="col">Signed in</th>
            <th scope="col">Last use noted</th>
            <th scope="col">Ends unused</th>
            <th scope="col">
              <span className="visually-hidden">Action</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {devices.map((device) => (
            <DeviceRow device={device} isEnding={isEnding} key={device.id} />
          ))}
        </tbody>
      </table>
      <p className="actions">
        {devices.length > 1 ? (
          <button className="button" name="id" value="others" type="submit" disabled={isEnding}>
            End all others
          </button>
        ) : null}
        <span role="status">{message}</span>
      </p>
    </form>
  )
}

function DeviceRow({ device, isEnding }: { device: Device; isEnding: boolean }) {
  const { id, name, isCurrent, since, lastUsed, ends } = device
  return (
    <tr>
      <th scope="row">{name}</th>
      <td data-label="Signed in">{since}</td>
      <td data-label="Last use noted">{lastUsed}</td>
      <td data-label="Ends unused">{ends}</td>
      <td className="cell-action">
        {isCurrent ? (
          <span className="badge">this browser</span>
        ) : (
          <button className="button" name="id" value={id} type="submit" disabled={isEnding}>
            End<span className="visually-hidden"> {name}</span>
          </button>
        )}
      </td>
    </tr>
  )
}
