import { Body, Controller, Get, Header, Post, Redirect } from '@nestjs/common'
import type { SessionData } from 'idp-client/nest'
import { IdpClient, IdpSession, RequireAuth, RequireLogin } from 'idp-client/nest'

const escapeHtml = (text: string) => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)

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
  account(@IdpSession() { user, theme = 'light' }: SessionData) {
    return toPage(`<p id="user">${escapeHtml(user.sub)}</p><p id="theme">${escapeHtml(String(theme))}</p>
<form method="post"><label>Theme <input name="theme"></label> <button>Save</button></form>
<a href="/">Home</a>`)
  }

  @Post('account')
  @RequireLogin()
  @Redirect('/account', 303)
  async save(@IdpSession() session: SessionData, @Body('theme') theme: unknown) {
    await this.idp.updateSession({ ...session, theme: String(theme).slice(0, 20) })
  }

  @Get('api/me')
  @RequireAuth()
  me(@IdpSession() session: SessionData) {
    return { sub: session.user.sub }
  }
}
