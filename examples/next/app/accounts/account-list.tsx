'use client'

import { useActionState } from 'react'
import { useHydrated } from '../../components/use-hydrated'
import type { AccountResult } from './actions'
import { changeAccount } from './actions'

export interface Account {
  readonly id: string
  /** Name of the connection at the provider. */
  readonly connection: string
  readonly label: string
  readonly scopes: string
  readonly since: string
}

export function AccountList({ accounts }: { accounts: readonly Account[] }) {
  const [result, action, isPending] = useActionState(changeAccount, null)
  const isBusy = !useHydrated() || isPending
  return (
    <form action={action} className="card">
      {accounts.length === 0 ? (
        <p>No connected accounts yet.</p>
      ) : (
        <table>
          <caption>Your accounts</caption>
          <thead>
            <tr>
              <th scope="col">Account</th>
              <th scope="col">Connected</th>
              <th scope="col">Scopes</th>
              <th scope="col">
                <span className="visually-hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {accounts.map((account) => (
              <AccountRow account={account} isBusy={isBusy} key={account.id} />
            ))}
          </tbody>
        </table>
      )}
      <div role="status">{result ? <Result {...result} /> : null}</div>
    </form>
  )
}

function AccountRow({ account, isBusy }: { account: Account; isBusy: boolean }) {
  const { id, connection, label, scopes, since } = account
  const button = { className: 'button', type: 'submit', disabled: isBusy } as const
  return (
    <tr>
      <th scope="row">{label}</th>
      <td data-label="Connected">{since}</td>
      <td data-label="Scopes">
        <code>{scopes}</code>
      </td>
      <td className="cell-action">
        <button {...button} name="token" value={connection}>
          Get a token<span className="visually-hidden"> for {label}</span>
        </button>
        <button {...button} name="disconnect" value={id}>
          Disconnect<span className="visually-hidden"> {label}</span>
        </button>
      </td>
    </tr>
  )
}

function Result(result: AccountResult) {
  if (result.kind === 'message') return <p>{result.message}</p>
  const { label, length, format, scope, expires } = result
  return (
    <dl className="facts">
      <div>
        <dt>Token for {label}</dt>
        <dd>
          <span aria-hidden="true">•••••••• </span>
          {length} characters, {format}
        </dd>
      </div>
      <div>
        <dt>Scopes</dt>
        <dd>
          <code>{scope}</code>
        </dd>
      </div>
      <div>
        <dt>Expires</dt>
        <dd>{expires}</dd>
      </div>
    </dl>
  )
}
