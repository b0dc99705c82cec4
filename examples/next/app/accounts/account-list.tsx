'use client'

import { useActionState } from 'react'
import type { TokenResult } from './actions'
import { describeToken, disconnect } from './actions'

export interface Account {
  readonly id: string
  /** Name of the connection at the provider. */
  readonly connection: string
  readonly label: string
  readonly scopes: string
  readonly since: string
}

export function AccountList({ accounts }: { accounts: readonly Account[] }) {
  const [message, disconnectAction, isDisconnecting] = useActionState(disconnect, '')
  const [token, tokenAction, isAsking] = useActionState(describeToken, null)
  const actions = { disconnectAction, tokenAction, isBusy: isDisconnecting || isAsking }
  return (
    <form className="card">
      {accounts.length === 0 ? (
        <p>No account is connected yet.</p>
      ) : (
        <table>
          <caption>Your accounts</caption>
          <thead>
            <tr>
              <th scope="col">Account</th>
              <th scope="col">Connected</th>
              <th scope="col">May use</th>
              <th scope="col">
                <span className="visually-hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {accounts.map((account) => (
              <AccountRow account={account} key={account.id} {...actions} />
            ))}
          </tbody>
        </table>
      )}
      <div role="status">
        {message ? <p>{message}</p> : null}
        {token ? <TokenFacts token={token} /> : null}
      </div>
    </form>
  )
}

interface AccountRowProps {
  readonly account: Account
  readonly disconnectAction: (form: FormData) => void
  readonly tokenAction: (form: FormData) => void
  readonly isBusy: boolean
}

function AccountRow({ account, disconnectAction, tokenAction, isBusy }: AccountRowProps) {
  const { id, connection, label, scopes, since } = account
  const button = { className: 'button', type: 'submit', disabled: isBusy } as const
  return (
    <tr>
      <th scope="row">{label}</th>
      <td data-label="Connected">{since}</td>
      <td data-label="May use">
        <code>{scopes}</code>
      </td>
      <td className="cell-action">
        <button {...button} formAction={tokenAction} name="connection" value={connection}>
          Get a token<span className="visually-hidden"> of {label}</span>
        </button>
        <button {...button} formAction={disconnectAction} name="id" value={id}>
          Disconnect<span className="visually-hidden"> {label}</span>
        </button>
      </td>
    </tr>
  )
}

function TokenFacts({ token }: { token: TokenResult }) {
  if (token.kind === 'failed') return <p>{token.message}</p>
  return (
    <dl className="facts">
      <div>
        <dt>Token of {token.label}</dt>
        <dd>
          <span aria-hidden="true">•••••••• </span>
          {token.length} characters, {token.format}
        </dd>
      </div>
      <div>
        <dt>May use</dt>
        <dd>
          <code>{token.scope}</code>
        </dd>
      </div>
      <div>
        <dt>Expires</dt>
        <dd>{token.expires}</dd>
      </div>
    </dl>
  )
}
