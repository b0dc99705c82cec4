import Link from 'next/link'
import type { ReactNode } from 'react'

/** Not rendered by the App Router: its client would fetch and prefetch these as components, in vain. */
const plain = ['/legacy', '/api/me']

interface SiteLinkProps {
  readonly href: string
  readonly children: ReactNode
  readonly 'aria-current'?: 'page' | undefined
}

/** A link inside this site, as a real navigation where the target needs one. */
export function SiteLink({ href, ...rest }: SiteLinkProps) {
  return plain.includes(href) ? <a href={href} {...rest} /> : <Link href={href} {...rest} />
}
