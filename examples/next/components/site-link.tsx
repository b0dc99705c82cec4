import Link from 'next/link'
import type { ReactNode } from 'react'

/** Pages that the App Router does not render: its client could not fetch or prefetch them. */
const plain = ['/legacy']

interface SiteLinkProps {
  readonly href: string
  readonly children: ReactNode
  readonly 'aria-current'?: 'page' | undefined
}

/** A link inside this site; a full navigation where the target is not a page of the App Router. */
export function SiteLink({ href, ...rest }: SiteLinkProps) {
  return plain.includes(href) ? <a href={href} {...rest} /> : <Link href={href} {...rest} />
}
