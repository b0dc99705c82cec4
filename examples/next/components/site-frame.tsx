'use client'

import Link from 'next/link'
import type { ReactNode } from 'react'
import type { Colour } from '../lib/colour'
import { defaultColour } from '../lib/colour'
import { Account } from './account'
import { Loading } from './loading'
import { Navigation } from './navigation'

interface Props {
  readonly colour?: Colour
  /** Default: a line that says that the page is loading. */
  readonly children?: ReactNode
}

/** Header, navigation and footer around every page, of both routers. */
export function SiteFrame({ colour = defaultColour, children = <Loading /> }: Props) {
  return (
    <div className="site" data-accent={colour}>
      <a className="skip-link" href="#content">
        Skip to content
      </a>
      <header className="site-header">
        <div className="site-header-inner">
          <Link className="brand" href="/">
            <BrandMark />
            IdpClient demo
          </Link>
          <Navigation />
          <Account />
        </div>
      </header>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
      <footer className="site-footer">
        <p>
          An example of <code>idp-client</code> with the App Router and the Pages Router of Next.js.
        </p>
      </footer>
    </div>
  )
}

function BrandMark() {
  return (
    <svg aria-hidden="true" viewBox="0 0 24 24" width="24" height="24">
      <rect className="brand-tile" width="24" height="24" rx="6" />
      <circle className="brand-key" cx="12" cy="9.5" r="3.5" />
      <path className="brand-key" d="M10.6 11.5h2.8l1 7h-4.8z" />
    </svg>
  )
}
