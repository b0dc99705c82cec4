import { idp } from '../../lib/auth'

/** Starts a login that asks for the credentials again, even if the user is still signed in at the provider. */
export function GET() {
  return idp.startInteractiveLogin({
    returnTo: '/settings',
    authorizationParameters: { prompt: 'login' },
  })
}
