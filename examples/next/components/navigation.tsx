'use client'

import { usePathname } from 'next/navigation'
import { useEffect, useState } from 'react'
import { SiteLink } from './site-link'

const pages = [
  { href: '/profile', label: 'Profile' },
  { href: '/client', label: 'Client page' },
  { href: '/legacy', label: 'Pages Router' },
  { href: '/orders', label: 'Orders' },
  { href: '/transfer', label: 'Transfer' },
  { href: '/accounts', label: 'Accounts' },
  { href: '/settings', label: 'Settings' },
  { href: '/devices', label: 'Devices' },
  { href: '/inspector', label: 'Inspector' },
]

/** One row of links where there is room for it, else a button that opens them. */
export function Navigation() {
  const pathname = usePathname()
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    if (pathname) setOpen(false)
  }, [pathname])
  return (
    <nav aria-label="Main">
      <button
        className="button menu-button"
        type="button"
        aria-expanded={isOpen}
        aria-controls="pages"
        onClick={() => setOpen(!isOpen)}
      >
        Menu
      </button>
      <ul id="pages" data-open={isOpen}>
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
