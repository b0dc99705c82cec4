'use client'

import { useState } from 'react'

interface Result {
  readonly status: string
  readonly body: string
}

export function ApiCall({ path, label }: { path: string; label: string }) {
  const [result, setResult] = useState<Result | null>(null)

  async function call() {
    setResult({ status: 'Calling…', body: '' })
    setResult(await fetchText(path))
  }

  return (
    <div className="api-call">
      <button className="button" type="button" onClick={call}>
        Call <code>{path}</code>
        <span className="visually-hidden"> of the {label}</span>
      </button>
      <div role="status">
        {result ? (
          <>
            <p>{result.status}</p>
            {result.body ? <pre>{result.body}</pre> : null}
          </>
        ) : null}
      </div>
    </div>
  )
}

async function fetchText(path: string): Promise<Result> {
  try {
    const response = await fetch(path)
    const body: unknown = await response.json()
    return { status: `Status ${response.status}`, body: JSON.stringify(body, null, 2) }
  } catch {
    return { status: 'The server did not respond with JSON. Try again.', body: '' }
  }
}
