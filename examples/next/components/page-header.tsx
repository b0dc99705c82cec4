import type { ReactNode } from 'react'

interface PageHeaderProps {
  readonly title: string
  /** Where this page runs, as a short label above the title. */
  readonly kind: string
  /** File of this page, for readers who want to see how it is made. */
  readonly source: string
  readonly children: ReactNode
}

export function PageHeader({ title, kind, source, children }: PageHeaderProps) {
  return (
    <header className="page-header">
      <p className="kind">{kind}</p>
      <h1>{title}</h1>
      <p className="lead">{children}</p>
      <p className="source">
        Source: <code>{source}</code>
      </p>
    </header>
  )
}
