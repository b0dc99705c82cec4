import type { ArgumentsHost } from '@nestjs/common'
import { All, Catch, Controller, Get, Header, HttpException, Req, Res } from '@nestjs/common'
import { BaseExceptionFilter } from '@nestjs/core'
import type { Auth, SessionData } from 'idp-client/nest'
import { IdpAuth, IdpClient, IdpSession, RequireAuth, RequireLogin, sendResponse } from 'idp-client/nest'
import * as contract from './support/contract.mjs'

const toQuery = ({ url }) => new URL(url, 'http://localhost').searchParams

@Controller()
export class ContractController {
  constructor(private readonly idp: IdpClient) {}

  @Get()
  home() {
    return 'home'
  }

  @Get('public')
  @Header('cache-control', 'public, max-age=60')
  public() {
    return 'public'
  }

  @Get('page')
  @RequireLogin()
  page(@IdpSession() session: SessionData) {
    return `user=${session.user.sub}`
  }

  @Get('api')
  @RequireAuth()
  api(@IdpSession() session: SessionData) {
    return { sub: session.user.sub }
  }

  @Get('resource')
  @RequireAuth(contract.tokensOnly)
  resource(@IdpAuth() auth: Auth) {
    return contract.toShared(auth)
  }

  @All('shared')
  @RequireAuth(contract.sharing)
  shared(@IdpAuth() auth: Auth) {
    return contract.toShared(auth)
  }

  @Get('whoami')
  async whoami(@Req() request) {
    return contract.toKnown(await this.idp.getSession(...contract.explicit(toQuery(request), request)))
  }

  @Get('unhandled')
  unhandled(@Req() request) {
    return this.idp.getSession(...contract.explicit(toQuery(request), request))
  }

  @Get('update')
  async update(@Req() request, @Res({ passthrough: true }) reply) {
    const query = toQuery(request)
    await contract.save(this.idp, query, contract.explicit(query, request, reply))
    return { ok: true }
  }

  @Get('app-cookie')
  async appCookie(@Req() request, @Res({ passthrough: true }) reply) {
    const query = toQuery(request)
    const add = (line: string) => (reply.append ?? reply.header).call(reply, 'set-cookie', line)
    add('app_before=1')
    await contract.save(this.idp, query, contract.explicit(query, request, reply))
    add('app_after=1')
    return { ok: true }
  }

  @Get('late')
  late(@Req() request, @Res({ passthrough: true }) reply) {
    const query = toQuery(request)
    contract.saveLater(this.idp, query, contract.explicit(query, request, reply))
    return 'late'
  }

  @Get('late-result')
  lateResult(@Req() request) {
    return contract.lateResult(toQuery(request))
  }

  @Get('token')
  token(@Req() request, @Res({ passthrough: true }) reply) {
    return this.idp.getAccessToken(...contract.explicit(toQuery(request), request, reply))
  }

  @Get('start')
  async start(@Req() request, @Res() reply) {
    const query = toQuery(request)
    await sendResponse(reply, await contract.start(this.idp, query, contract.explicit(query, request, reply)))
  }

  @Get('connect')
  async connect(@Req() request, @Res() reply) {
    const query = toQuery(request)
    await sendResponse(
      reply,
      await contract.connect(this.idp, query, contract.explicit(query, request, reply)),
    )
  }
}

@Catch()
export class Failures extends BaseExceptionFilter {
  catch(error: unknown, host: ArgumentsHost) {
    const { url } = host.switchToHttp().getRequest()
    if (contract.isOwnHandler(url)) return super.catch(error, host)
    const [status, body] =
      error instanceof HttpException
        ? [error.getStatus(), error.getResponse()]
        : [500, contract.toFailure(error)]
    host.switchToHttp().getResponse().status(status).send(body)
  }
}
