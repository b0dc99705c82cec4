import { IdpProvider } from 'idp-client/react'
import type { AppProps } from 'next/app'
import { SiteFrame } from '../components/site-frame'
import { readColour } from '../lib/colour'
import '../styles/site.css'

export default function PagesApp({ Component, pageProps }: AppProps) {
  return (
    <IdpProvider user={pageProps.user}>
      <SiteFrame colour={readColour(pageProps)}>
        <Component {...pageProps} />
      </SiteFrame>
    </IdpProvider>
  )
}
