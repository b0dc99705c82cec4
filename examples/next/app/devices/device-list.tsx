'use client'

import { useActionState } from 'react'
import { useHydrated } from '../../components/use-hydrated'
import { endSessions } from './actions'

export interface Device {
  /** Identifies the session; it grants no access to it. */
  readonly id: string
  readonly name: string
  readonly isCurrent: boolean
  readonly since: string
  readonly lastUsed: string
  /** When it expires if it is not used again. */
  readonly expires: string
}

export function DeviceList({ devices }: { devices: readonly Device[] }) {
  const [message, action, isPending] = useActionState(endSessions, '')
  const isBusy = !useHydrated() || isPending
  return (
    <form action={action} className="card">
      <table>
        <caption>Your sessions</caption>
        <thead>
          <tr>
            <th scope="col">Browser</th>
            <th scope="col">Signed in</th>
            <th scope="col">Last used</th>
            <th scope="col">Expires</th>
            <th scope="col">
              <span className="visually-hidden">Action</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {devices.map((device) => (
            <DeviceRow device={device} isBusy={isBusy} key={device.id} />
          ))}
        </tbody>
      </table>
      <p className="actions">
        {devices.length > 1 ? (
          <button className="button" name="id" value="others" type="submit" disabled={isBusy}>
            End all other sessions
          </button>
        ) : null}
        <span role="status">{message}</span>
      </p>
    </form>
  )
}

function DeviceRow({ device, isBusy }: { device: Device; isBusy: boolean }) {
  const { id, name, isCurrent, since, lastUsed, expires } = device
  return (
    <tr>
      <th scope="row">{name}</th>
      <td data-label="Signed in">{since}</td>
      <td data-label="Last used">{lastUsed}</td>
      <td data-label="Expires">{expires}</td>
      <td className="cell-action">
        {isCurrent ? (
          <span className="badge">this browser</span>
        ) : (
          <button className="button" name="id" value={id} type="submit" disabled={isBusy}>
            End<span className="visually-hidden"> {name}</span>
          </button>
        )}
      </td>
    </tr>
  )
}
