import { Controller, Get, Header } from '@nestjs/common'
import type { SessionData } from 'idp-client/nest'
import { IdpClient, IdpSession, RequireAuth, RequireLogin } from 'idp-client/nest'

const toPage = (body: string) =>
  `<!doctype html><html lang="en"><title>Example</title><body>${body}</body></html>`

@Controller()
export class PagesController {
  constructor(private readonly idp: IdpClient) {}

  @Get()
  @Header('content-type', 'text/html; charset=utf-8')
  async home() {
    const session = await this.idp.getSession()
    return toPage(
      session
        ? '<p>Signed in</p><a href="/account">Account</a> <a href="/auth/logout">Log out</a>'
        : '<p>Signed out</p><a href="/auth/login">Log in</a> <a href="/account">Account</a>',
    )
  }

  @Get('account')
  @RequireLogin()
  @Header('content-type', 'text/html; charset=utf-8')
  account(@IdpSession() session: SessionData) {
    return toPage(`<p id="user">${encodeURI(session.user.sub)}</p><a href="/">Home</a>`)
  }

  @Get('api/me')
  @RequireAuth()
  me(@IdpSession() session: SessionData) {
    return { sub: session.user.sub }
  }
}
