'use client'

import { useState } from 'react'
import type { SourceFile } from '../lib/source'

/** A fold with files of this application. The code is in the document only while the fold is open. */
export function ShowCode({ files }: { files: readonly SourceFile[] }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details className="code" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Show the code</summary>
      {isOpen
        ? files.map(({ path, text }) => (
            <figure key={path}>
              <figcaption>
                <code>examples/next/{path}</code>
              </figcaption>
              <pre>
                <code>{text}</code>
              </pre>
            </figure>
          ))
        : null}
    </details>
  )
}
