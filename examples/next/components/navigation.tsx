'use client'

import Link from 'next/link'
import { usePathname } from 'next/navigation'

const pages = [
  { href: '/profile', label: 'Profile' },
  { href: '/client', label: 'Client page' },
  { href: '/settings', label: 'Settings' },
  { href: '/inspector', label: 'Inspector' },
  { href: '/legacy', label: 'Pages Router' },
]

export function Navigation() {
  const pathname = usePathname()
  return (
    <nav aria-label="Main">
      <ul>
        {pages.map(({ href, label }) => (
          <li key={href}>
            <Link href={href} aria-current={pathname === href ? 'page' : undefined}>
              {label}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}
