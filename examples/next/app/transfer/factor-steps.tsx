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

/** An authenticator app that is being set up. The picture is made here: the secret goes to nobody else. */
export function NewApp({ app: { barcodeUri, secret } }: { app: MfaOtpEnrollment }) {
  const picture = `data:image/svg+xml,${encodeURIComponent(renderSVG(barcodeUri, { border: 2 }))}`
  return (
    <>
      <p>Scan this with an authenticator app, or type the secret in there. Then enter the code it shows.</p>
      <img className="qr" src={picture} alt="QR code for an authenticator app" width="200" height="200" />
      <p>
        Secret: <code>{secret.replace(/.{4}(?=.)/g, '$& ')}</code>
      </p>
    </>
  )
}

export function RecoveryCodes({ codes }: { codes: readonly string[] | undefined }) {
  if (!codes || codes.length === 0) return null
  return (
    <div className="notice">
      <p>If you lose the device, this code gets you in. It is shown only once; write it down.</p>
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

interface ApprovalProps {
  /** True as long as the answer is open. */
  readonly poll: () => Promise<boolean>
  readonly hasFailed: boolean
}

/** Milliseconds between two questions whether the visitor has approved. */
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
    <p role="status">A message was sent to your device. Approve it there; this page goes on by itself.</p>
  )
}
