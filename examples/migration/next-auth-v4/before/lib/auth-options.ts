import type { NextAuthOptions } from 'next-auth'
import type { JWT } from 'next-auth/jwt'

const issuer = process.env.OIDC_ISSUER
const clientId = process.env.OIDC_CLIENT_ID ?? ''
const clientSecret = process.env.OIDC_CLIENT_SECRET ?? ''

async function refresh(token: JWT): Promise<JWT> {
  const metadata = await fetch(`${issuer}/.well-known/openid-configuration`).then((response) =>
    response.json(),
  )
  const response = await fetch(metadata.token_endpoint, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}` },
    body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token: token.refreshToken ?? '' }),
  })
  if (!response.ok) return { ...token, error: 'RefreshFailed' }
  const tokens = await response.json()
  return {
    ...token,
    accessToken: tokens.access_token,
    expiresAt: Math.floor(Date.now() / 1000) + tokens.expires_in,
    refreshToken: tokens.refresh_token ?? token.refreshToken,
  }
}

export const authOptions: NextAuthOptions = {
  providers: [
    {
      id: 'idp',
      name: 'the identity provider',
      type: 'oauth',
      wellKnown: `${issuer}/.well-known/openid-configuration`,
      clientId,
      clientSecret,
      idToken: true,
      checks: ['pkce', 'state', 'nonce'],
      authorization: { params: { scope: 'openid profile email offline_access' } },
      profile: ({ sub, name, email }) => ({ id: sub, name, email }),
    },
  ],
  callbacks: {
    async jwt({ token, account }) {
      if (account) {
        return {
          ...token,
          accessToken: account.access_token,
          refreshToken: account.refresh_token,
          expiresAt: account.expires_at,
        }
      }
      return Date.now() / 1000 < (token.expiresAt ?? 0) ? token : refresh(token)
    },
    session({ session, token }) {
      return { ...session, sub: token.sub, accessToken: token.accessToken, error: token.error }
    },
  },
}
