'use client'

import { usePathname } from 'next/navigation'
import { SiteLink } from './site-link'

const pages = [
  { href: '/profile', label: 'Profile' },
  { href: '/client', label: 'Client page' },
  { href: '/orders', label: 'Orders' },
  { href: '/transfer', label: 'Transfer' },
  { href: '/accounts', label: 'Accounts' },
  { href: '/devices', label: 'Devices' },
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
            <SiteLink href={href} aria-current={pathname === href ? 'page' : undefined}>
              {label}
            </SiteLink>
          </li>
        ))}
      </ul>
    </nav>
  )
}
