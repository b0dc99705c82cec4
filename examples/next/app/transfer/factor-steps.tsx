'use client'

import type { MfaOtpEnrollment } from 'idp-client/browser'
import type { SyntheticEvent } from 'react'
import { useEffect, useRef } from 'react'
import { renderSVG } from 'uqr'

interface CodeFormProps {
  readonly isBusy: boolean
  readonly onCode: (code: string) => void
}

export function CodeForm({ isBusy, onCode }: CodeFormProps) {
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => input.current?.focus(), [])

  function submit(event: SyntheticEvent<HTMLFormElement>) {
    event.preventDefault()
    onCode(String(new FormData(event.currentTarget).get('code')).replace(/\s/g, ''))
  }

  return (
    <form className="code-form" onSubmit={submit}>
      <label className="field">
        Code
        <input ref={input} name="code" autoComplete="one-time-code" autoCapitalize="none" required />
      </label>
      <button className="button button-primary" type="submit" disabled={isBusy}>
        {isBusy ? 'Checking…' : 'Confirm'}
      </button>
    </form>
  )
}

/** Enrolls an authenticator app. The QR code is drawn here, so that the secret is sent to no other service. */
export function NewApp({ app: { barcodeUri, secret } }: { app: MfaOtpEnrollment }) {
  const picture = `data:image/svg+xml,${encodeURIComponent(renderSVG(barcodeUri, { border: 2 }))}`
  return (
    <div className="new-app">
      <img className="qr" src={picture} alt="QR code for an authenticator app" width="160" height="160" />
      <div>
        <p>Scan the QR code with an authenticator app, or enter the secret there.</p>
        <p>
          Secret: <code>{secret.replace(/.{4}(?=.)/g, '$& ')}</code>
        </p>
      </div>
    </div>
  )
}

export function RecoveryCodes({ codes }: { codes: readonly string[] | undefined }) {
  if (!codes || codes.length === 0) return null
  return (
    <div className="notice">
      <p>Use this recovery code if you lose your device. Write it down; it is shown only once.</p>
      <ul className="codes">
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
    </div>
  )
}

/** With the development provider, codes and messages arrive in its inbox. */
export function InboxHint({ url }: { url: string | null }) {
  if (url === null) return null
  return (
    <p className="hint">
      No device at hand? The{' '}
      <a href={url} target="_blank" rel="noreferrer">
        inbox of the development provider
      </a>{' '}
      shows all codes and messages.
    </p>
  )
}

interface ApprovalProps {
  /** Resolves to true until the user has responded. */
  readonly poll: () => Promise<boolean>
  readonly hasFailed: boolean
}

/** Polling interval in milliseconds. */
const interval = 2000

export function Approval({ poll, hasFailed }: ApprovalProps) {
  const ask = useRef(poll)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let isGone = false
    async function next() {
      const isOpen = await ask.current()
      if (isOpen && !isGone) timer = setTimeout(next, interval)
    }
    void next()
    return () => {
      isGone = true
      clearTimeout(timer)
    }
  }, [])
  if (hasFailed) return null
  return (
    <p role="status">
      A message was sent to your device. Approve it there, and the transfer continues automatically.
    </p>
  )
}
