import type { ReactNode } from 'react'

interface PageHeaderProps {
  readonly title: string
  /** The feature that this page demonstrates, shown above the title. */
  readonly kind: string
  /** The fold with the code of this page. */
  readonly code: ReactNode
  readonly children: ReactNode
}

export function PageHeader({ title, kind, code, children }: PageHeaderProps) {
  return (
    <header className="page-header">
      <p className="kind">{kind}</p>
      <h1>{title}</h1>
      <p className="lead">{children}</p>
      {code}
    </header>
  )
}
