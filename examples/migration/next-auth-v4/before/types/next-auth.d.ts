import 'next-auth'
import 'next-auth/jwt'

declare module 'next-auth' {
  interface Session {
    sub?: string
    accessToken?: string
    error?: string
  }
}

declare module 'next-auth/jwt' {
  interface JWT {
    accessToken?: string
    refreshToken?: string
    expiresAt?: number
    error?: string
  }
}
