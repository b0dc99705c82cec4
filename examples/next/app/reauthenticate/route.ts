import { idp } from '../../lib/auth'

/** Asks for the credentials again although the provider may still know the user. */
export function GET() {
  return idp.startInteractiveLogin({
    returnTo: '/settings',
    authorizationParameters: { prompt: 'login' },
  })
}
