import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import express from 'express'
import { decodeJwt } from 'jose'
import type { NextApiRequest, NextApiResponse } from 'next'
import { NextRequest, NextResponse } from 'next/server.js'
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from 'vitest'
import * as onExpress from '../../src/adapters/express/index.ts'
import * as onNext from '../../src/adapters/next/index.ts'
import type { IdpClientOptions } from '../../src/index.ts'
import * as onWeb from '../../src/index.ts'
import { APP } from '../support/app.ts'
import { SECRET } from '../support/engine.ts'
import type { MfaWorld } from '../support/mfa.ts'
import { BANK, startMfaWorld } from '../support/mfa.ts'
import { serve } from '../support/serve.ts'

let world: MfaWorld
let options: IdpClientOptions
beforeAll(async () => {
  world = await startMfaWorld()
  options = {
    domain: world.provider.issuer,
    clientId: world.provider.clientId,
    clientSecret: world.provider.clientSecret,
    secret: SECRET,
    appBaseUrl: APP,
    allowInsecureRequests: true,
    logger: () => {},
  }
})
afterAll(() => world.provider.stop())

/** The cookies of alice, what her request for the bank was refused with, and what her app shows. */
async function demanded() {
  const browser = await world.signedIn()
  const { mfa_token: mfaToken } = await world.demand(browser)
  const cookie = browser.request('/').headers.get('cookie') ?? ''
  return { browser, headers: { cookie }, given: { mfaToken, otp: world.otp() } }
}

type Demanded = Awaited<ReturnType<typeof demanded>>

/** Asserts that the host wrote the session with the token of the bank. */
async function expectKept({ browser, headers }: Demanded, setCookie: readonly string[]): Promise<void> {
  browser.store(new Response(null, { headers: setCookie.map((line) => ['set-cookie', line]) }))
  expect(browser.request('/').headers.get('cookie')).not.toBe(headers.cookie)
  world.provider.clearRequests()
  const { token } = await world.client.getAccessToken(browser.request('/'), new Headers(), { audience: BANK })
  expect(decodeJwt(token)).toMatchObject({ aud: BANK, sub: 'dev|alice' })
  expect(world.provider.requests()).toEqual([])
}

/** A verification by the route, as the browser sends it. */
function posted({ given, headers }: Demanded): RequestInit {
  const { mfaToken, otp } = given
  const all = { ...headers, 'content-type': 'application/json', authorization: `Bearer ${mfaToken}` }
  return { method: 'POST', headers: all, body: JSON.stringify({ otp }) }
}

async function expectVerified(of: Demanded, response: Response): Promise<void> {
  expect([response.status, await response.json()]).toEqual([200, { success: true }])
  await expectKept(of, response.headers.getSetCookie())
}

describe('[S208,S211,S220,S222] Web', () => {
  test('accepts the request as an argument', async () => {
    const of = await demanded()
    const idp = new onWeb.IdpClient(options)
    const target = new Headers()
    const result = await idp.mfa.verify(new Request(APP, { headers: of.headers }), target, of.given)
    expect(result).toEqual({ success: true })
    await expectKept(of, target.getSetCookie())
  })

  test('finds the current request, also as a detached method', async () => {
    const of = await demanded()
    const idp = new onWeb.IdpClient(options)
    const { verify } = idp.mfa
    const response = await idp.middleware(new Request(APP, { headers: of.headers }), async () =>
      Response.json(await verify(of.given)),
    )
    await expectVerified(of, response)
  })

  test('throws without a request and without a current one', async () => {
    const { given } = await demanded()
    await expect(new onWeb.IdpClient(options).mfa.verify(given)).rejects.toMatchObject({
      code: 'AMBIENT_REQUEST_MISSING',
    })
  })

  test('[S229] types', () => {
    type Mfa = onWeb.IdpClient['mfa']
    expectTypeOf<Mfa>().toExtend<onWeb.ServerMfaClient<Request, Response>>()
    expectTypeOf<Mfa['getAuthenticators']>().toBeCallableWith({ mfaToken: '' })
    expectTypeOf<Mfa['getAuthenticators']>().toBeCallableWith({} as Request, { mfaToken: '' })
    expectTypeOf<Mfa['challenge']>().toBeCallableWith({ mfaToken: '', challengeType: 'oob' })
    expectTypeOf<Mfa['enroll']>().toBeCallableWith({ mfaToken: '', factorType: 'push' })
    expectTypeOf<Mfa['enroll']>().toBeCallableWith({ mfaToken: '', authenticatorTypes: ['otp'] })
    expectTypeOf<Mfa['verify']>().toBeCallableWith({} as Request, new Headers(), { mfaToken: '', otp: '' })
    expectTypeOf<Mfa['verify']>().returns.resolves.toEqualTypeOf<onWeb.MfaVerification>()
    // @ts-expect-error: a challenge is one of the two
    void ((mfa: Mfa): unknown => mfa.challenge({ mfaToken: '', challengeType: 'sms' }))
    // @ts-expect-error: the token is needed
    void ((mfa: Mfa): unknown => mfa.verify({ otp: '' }))
    // @ts-expect-error: a request is an object
    void ((mfa: Mfa): unknown => mfa.verify('request', { mfaToken: '', otp: '' }))
  })
})

describe('[S208,S211,S220,S222] Express', () => {
  test.each(['explicit', 'ambient'])('%s', async (style) => {
    const of = await demanded()
    const idp = new onExpress.IdpClient(options)
    const app = express()
    app.use(idp.middleware)
    app.get('/', async (req, res) => {
      const verifying = style === 'explicit' ? idp.mfa.verify(req, res, of.given) : idp.mfa.verify(of.given)
      res.json(await verifying)
    })
    await serve(app, async (url) => expectVerified(of, await fetch(url, { headers: of.headers })))
  })

  test('(req, options): the session is read, and nothing can be written', async () => {
    const { given, headers } = await demanded()
    const idp = new onExpress.IdpClient(options)
    const app = express()
    app.get('/', async (req, res) => {
      const factors = await idp.mfa.getAuthenticators(req, given)
      const error = await idp.mfa.verify(req, given).catch((thrown: unknown) => thrown)
      res.json([factors.length > 0, onExpress.isIdpError(error, 'SESSION_NOT_WRITABLE')])
    })
    await serve(app, async (url) => {
      expect(await (await fetch(url, { headers })).json()).toEqual([true, true])
    })
  })

  test.each([
    ['no parser', []],
    ['express.json()', [express.json()]],
    ['express.text()', [express.text({ type: '*/*' })]],
    ['express.raw()', [express.raw({ type: '*/*' })]],
    ['a parser that is not in charge', [express.urlencoded()]],
  ])('the route behind %s', async (_title, parsers) => {
    const of = await demanded()
    const app = express()
    for (const parser of parsers) app.use(parser)
    app.use(new onExpress.IdpClient(options).middleware)
    await serve(app, async (url) => expectVerified(of, await fetch(`${url}/auth/mfa/verify`, posted(of))))
  })
})

describe('[S208,S211,S220,S222] Next', () => {
  test('explicit: in the proxy', async () => {
    const of = await demanded()
    const response = NextResponse.next()
    const request = new NextRequest(APP, { headers: of.headers })
    expect(await new onNext.IdpClient(options).mfa.verify(request, response, of.given)).toEqual({
      success: true,
    })
    await expectKept(of, response.headers.getSetCookie())
  })

  test('explicit: Pages Router', async () => {
    const of = await demanded()
    const idp = new onNext.IdpClient(options)
    const handler = async (req: NextApiRequest, res: NextApiResponse & ServerResponse): Promise<void> => {
      const result = await idp.mfa.verify(req, res, of.given)
      res.end(JSON.stringify(result))
    }
    await serve(handler as unknown as RequestListener, async (url) =>
      expectVerified(of, await fetch(url, { headers: of.headers })),
    )
  })

  test('the route in the proxy', async () => {
    const of = await demanded()
    const request = new NextRequest(
      `${APP}/auth/mfa/verify`,
      posted(of) as ConstructorParameters<typeof NextRequest>[1],
    )
    await expectVerified(of, await new onNext.IdpClient(options).middleware(request))
  })

  test('the route as a route handler', async () => {
    const of = await demanded()
    const { POST } = new onNext.IdpClient(options).handlers()
    await expectVerified(of, await POST(new Request(`${APP}/auth/mfa/verify`, posted(of))))
  })

  test('the route as an API route, with a body that Next.js has parsed', async () => {
    const of = await demanded()
    const handler = new onNext.IdpClient(options).pagesHandler()
    const listener = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
      const chunks: Buffer[] = []
      for await (const chunk of req) chunks.push(chunk as Buffer)
      const body: unknown = JSON.parse(Buffer.concat(chunks).toString())
      await handler(Object.assign(req, { body }) as NextApiRequest, res as NextApiResponse)
    }
    const response = await serve(listener as RequestListener, async (url) => {
      const received = await fetch(`${url}/auth/mfa/verify`, posted(of))
      return new Response(await received.text(), received)
    })
    await expectVerified(of, response)
  })

  test('[S229] types', () => {
    type Mfa = onNext.IdpClient['mfa']
    expectTypeOf<Mfa['verify']>().toBeCallableWith({ mfaToken: '', recoveryCode: '' })
    expectTypeOf<Mfa['verify']>().toBeCallableWith({} as NextRequest, {} as NextResponse, {
      mfaToken: '',
      oobCode: '',
      bindingCode: '',
    })
    expectTypeOf<Mfa['verify']>().toBeCallableWith({} as NextApiRequest, {} as NextApiResponse, {
      mfaToken: '',
      otp: '',
    })
    expectTypeOf<onExpress.IdpClient['mfa']['verify']>().toBeCallableWith(
      {} as express.Request,
      {} as express.Response,
      { mfaToken: '', otp: '' },
    )
  })
})
