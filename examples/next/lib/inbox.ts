const domain = process.env['IDP_DOMAIN'] ?? ''

/** Page of the development provider that shows every code and message; null with another provider. */
export const inboxUrl: string | null = /^https?:\/\/(?:localhost|127\.0\.0\.1)[:/]/.test(`${domain}/`)
  ? `${domain.replace(/\/$/, '')}/dev/inbox`
  : null
