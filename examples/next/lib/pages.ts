export interface PageGroup {
  readonly title: string
  readonly pages: readonly {
    readonly href: string
    readonly title: string
    readonly kind: string
    readonly text: string
  }[]
}

/** The pages of this site, as the home page presents them. */
export const pageGroups: readonly PageGroup[] = [
  {
    title: 'Read the session',
    pages: [
      {
        href: '/profile',
        title: 'Profile',
        kind: 'Server component',
        text: 'A protected page, rendered on the server. Without a session it redirects to the login and back.',
      },
      {
        href: '/client',
        title: 'Client page',
        kind: 'Client component',
        text: 'The user in the browser with useUser, and calls to protected API routes of both routers.',
      },
      {
        href: '/legacy',
        title: 'Pages Router',
        kind: 'getServerSideProps',
        text: 'The same session on a page of the Pages Router, in the same application.',
      },
    ],
  },
  {
    title: 'Call APIs',
    pages: [
      {
        href: '/orders',
        title: 'Orders',
        kind: 'Access token',
        text: 'An API in a process of its own, called with an access token by the server and by the browser.',
      },
      {
        href: '/transfer',
        title: 'Transfer money',
        kind: 'Second factor',
        text: 'A transfer that requires a second factor: on the page, in a popup or at the provider.',
      },
      {
        href: '/accounts',
        title: 'Connected accounts',
        kind: 'Account API',
        text: 'Connect an account at another provider, get an access token for it, and disconnect it.',
      },
    ],
  },
  {
    title: 'Manage the session',
    pages: [
      {
        href: '/settings',
        title: 'Settings',
        kind: 'Server action',
        text: 'A preference that is stored in the session. Choose a colour, and the whole site changes.',
      },
      {
        href: '/devices',
        title: 'Devices',
        kind: 'Session store',
        text: 'Every browser in which you are signed in, with a button that ends its session.',
      },
      {
        href: '/inspector',
        title: 'Session inspector',
        kind: 'Server component',
        text: 'Claims, token lifetimes and cookie sizes of your session. Tokens never leave the server.',
      },
    ],
  },
]
