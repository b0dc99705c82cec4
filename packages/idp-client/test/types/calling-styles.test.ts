import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import type { Request as ExpressRequest, Response as ExpressResponse } from 'express'
import type { GetServerSideProps, NextApiHandler, NextApiRequest, NextApiResponse } from 'next'
import type { NextRequest } from 'next/server.js'
import { NextResponse } from 'next/server.js'
import { describe, expect, expectTypeOf, test } from 'vitest'
import type * as express from '../../src/adapters/express/index.ts'
import type * as koa from '../../src/adapters/koa/index.ts'
import type * as next from '../../src/adapters/next/index.ts'
import type * as web from '../../src/index.ts'
import type {
  ConnectAccountOptions,
  GetAccessTokenOptions,
  SessionData,
  StartInteractiveLoginOptions,
  User,
} from '../../src/index.ts'
import { signedIn } from '../adapters/client-options.ts'
import { client, nextRequest } from '../adapters/next-support.ts'

type App = next.IdpClient

describe('types of request and response', () => {
  test('[S007] each entry exports its own, and its signatures use them', () => {
    expectTypeOf<next.FrameworkRequest>().toEqualTypeOf<NextRequest>()
    expectTypeOf<next.FrameworkResponse>().toEqualTypeOf<NextResponse>()
    expectTypeOf<express.FrameworkRequest>().toEqualTypeOf<ExpressRequest>()
    expectTypeOf<express.FrameworkResponse>().toEqualTypeOf<ExpressResponse>()
    // As `@types/koa` declares it, also with `exactOptionalPropertyTypes`.
    expectTypeOf<{ respond?: boolean | undefined }>().toExtend<Pick<koa.KoaContext, 'respond'>>()
    expectTypeOf<web.FrameworkRequest>().toEqualTypeOf<Request>()
    expectTypeOf<web.FrameworkResponse>().toEqualTypeOf<Response>()
    expectTypeOf<App['middleware']>().returns.resolves.toEqualTypeOf<next.FrameworkResponse>()
    expectTypeOf<web.IdpClient['middleware']>().returns.resolves.toEqualTypeOf<web.FrameworkResponse>()
    expectTypeOf<express.IdpClient['getSession']>().toBeCallableWith({} as express.FrameworkRequest)
  })

  test('[S157,S158] middleware accepts a Request or a FrameworkRequest, and returns the response class of the host', async () => {
    expectTypeOf<App['middleware']>().parameter(0).toEqualTypeOf<next.FrameworkRequest | Request>()
    const { middleware } = client()
    // @ts-expect-error: the request is required
    void ((): unknown => middleware())
    for (const request of [nextRequest('/auth/profile'), new Request('https://app.example/auth/profile')]) {
      const response = await middleware(request)
      expect(response).toBeInstanceOf(NextResponse)
      expect(response.status).toBe(401)
    }
  })
})

describe('both calling styles of Next', () => {
  test('[S008,S160,S161] getSession: without arguments, or with the request of proxy or Pages Router', async () => {
    expectTypeOf<App['getSession']>().toBeCallableWith()
    expectTypeOf<App['getSession']>().toBeCallableWith({} as NextRequest)
    expectTypeOf<App['getSession']>().toBeCallableWith({} as NextApiRequest)
    expectTypeOf<App['getSession']>().returns.resolves.toEqualTypeOf<SessionData | null>()
    const headers = await signedIn()
    const idp = client()
    for (const request of [
      nextRequest('/page', { headers }),
      new Request('https://app.example/', { headers }),
    ]) {
      expect((await idp.getSession(request))?.user.sub).toBe('carol')
    }
    expect((await idp.getSession(requestOfPages(headers)))?.user.sub).toBe('carol')
    expect(await idp.getSession(requestOfPages())).toBeNull()
  })

  test('[S008,S184,S185] updateSession: the session alone, or request, response and session', () => {
    expectTypeOf<App['updateSession']>().toBeCallableWith({} as SessionData)
    expectTypeOf<App['updateSession']>().toBeCallableWith(
      {} as NextApiRequest,
      {} as NextApiResponse,
      {} as SessionData,
    )
    expectTypeOf<App['updateSession']>().returns.resolves.toBeVoid()
    // @ts-expect-error: the session is required
    void ((idp: App): unknown => idp.updateSession())
  })

  test('[S008,S164,S165,S227] getAccessToken: options alone, or request, response and options', () => {
    expectTypeOf<App['getAccessToken']>().toBeCallableWith()
    expectTypeOf<App['getAccessToken']>().toBeCallableWith({ refresh: true, scope: 'a', audience: 'b' })
    expectTypeOf<App['getAccessToken']>().toBeCallableWith({} as NextApiRequest, {} as NextApiResponse)
    expectTypeOf<App['getAccessToken']>().toBeCallableWith({} as NextRequest, {} as NextResponse, {
      mergeScopes: false,
    })
    expectTypeOf<App['getAccessToken']>().returns.resolves.toHaveProperty('token').toEqualTypeOf<string>()
    expectTypeOf<GetAccessTokenOptions>().toEqualTypeOf<{
      refresh?: boolean
      scope?: string
      audience?: string
      mergeScopes?: boolean
    }>()
    // @ts-expect-error: the name is audience
    const misspelt: GetAccessTokenOptions = { audiences: 'x' }
    expect(Object.keys(misspelt)).toEqual(['audiences'])
  })

  test('[S189,S225] startInteractiveLogin: options are optional, and typed', () => {
    expectTypeOf<App['startInteractiveLogin']>().toBeCallableWith()
    expectTypeOf<StartInteractiveLoginOptions['returnTo']>().toEqualTypeOf<string | undefined>()
    expectTypeOf<StartInteractiveLoginOptions['challengeMode']>().toEqualTypeOf<
      'redirect' | 'popup' | undefined
    >()
    // @ts-expect-error: the name is returnTo
    const misspelt: StartInteractiveLoginOptions = { returnTO: '/' }
    expect(Object.keys(misspelt)).toEqual(['returnTO'])
  })

  test('[S195,S196,S226] connectAccount: options are required and typed, alone or behind request and response', () => {
    const options: ConnectAccountOptions = { connection: 'github' }
    expectTypeOf<App['connectAccount']>().toBeCallableWith(options)
    expectTypeOf<App['connectAccount']>().toBeCallableWith({} as NextRequest, options)
    expectTypeOf<App['connectAccount']>().toBeCallableWith(
      {} as NextApiRequest,
      {} as NextApiResponse,
      options,
    )
    expectTypeOf<App['connectAccount']>().returns.resolves.toEqualTypeOf<next.FrameworkResponse>()
    expectTypeOf<web.IdpClient['connectAccount']>().returns.resolves.toEqualTypeOf<Response>()
    expectTypeOf<ConnectAccountOptions['scopes']>().toEqualTypeOf<readonly string[] | undefined>()
    expectTypeOf<ConnectAccountOptions['returnTo']>().toEqualTypeOf<string | undefined>()
    // @ts-expect-error: the options are required
    void ((idp: App): unknown => idp.connectAccount())
    // @ts-expect-error: and so is the connection
    const incomplete: ConnectAccountOptions = { returnTo: '/' }
    expect(Object.keys(incomplete)).toEqual(['returnTo'])
  })

  test('[S204,S205,S228] withPageAuthRequired: a component with options, or options alone', () => {
    const idp = client()
    const page = idp.withPageAuthRequired(({ id }: { id: string }) => id, { returnTo: ({ id }) => `/${id}` })
    expectTypeOf(page).parameter(0).toEqualTypeOf<{ id: string }>()
    const bare = idp.withPageAuthRequired()
    expectTypeOf(bare).toExtend<GetServerSideProps<{ user: User }>>()
    const withProps = idp.withPageAuthRequired({ getServerSideProps: async () => ({ props: { orders: 3 } }) })
    expectTypeOf(withProps).toExtend<GetServerSideProps<{ orders: number; user: User }>>()
    const strong = idp.withPageAuthRequired(() => null, {
      maxAge: 300,
      acr: ['a', 'b'],
      amr: 'otp',
      scope: 'x y',
    })
    const strongProps = idp.withPageAuthRequired({ organization: 'org_1', maxAge: undefined })
    expectTypeOf<next.ApiGuardOptions>().toExtend<next.GuardRequirements>()
    expectTypeOf<next.ResourceGuardOptions>().toExtend<next.AnyApiGuardOptions>()
    expectTypeOf<next.PageGuardOptions<object>>().toExtend<next.GuardRequirements>()
    expectTypeOf<web.PageGuardOptions>().toExtend<web.GuardRequirements>()
    expectTypeOf<express.PageGuardOptions>().toExtend<express.GuardRequirements>()
    // @ts-expect-error: no such option
    expect(() => idp.withPageAuthRequired(() => null, { max_age: 300 })).toThrow('max_age is not an option')
    // @ts-expect-error: seconds are a number
    expect(() => idp.withApiAuthRequired(() => new Response(), { maxAge: '300' })).toThrow('maxAge')
    for (const made of [page, bare, withProps, strong, strongProps]) expect(made).toBeTypeOf('function')
  })

  test('[S207] withApiAuthRequired: a route handler with its context, or an API route', async () => {
    const idp = client()
    const route = idp.withApiAuthRequired(async (_request, { params }: { params: Promise<{ id: string }> }) =>
      Response.json((await params).id),
    )
    expectTypeOf(route).parameter(1).toEqualTypeOf<{ params: Promise<{ id: string }> }>()
    const refused = await route(nextRequest('/api'), { params: Promise.resolve({ id: '7' }) })
    expect(refused.status).toBe(401)
    const headers = await signedIn()
    const letIn = await route(nextRequest('/api', { headers }), { params: Promise.resolve({ id: '7' }) })
    expect(await letIn.json()).toBe('7')
    const api = idp.withApiAuthRequired((_request: NextApiRequest, response: NextApiResponse) =>
      response.end(),
    )
    expectTypeOf(api).toEqualTypeOf<NextApiHandler>()
  })
})

function requestOfPages(headers: Readonly<Record<string, string>> = {}): IncomingMessage {
  const request = new IncomingMessage(new Socket())
  return Object.assign(request, { method: 'GET', url: '/page', headers: { host: 'app.example', ...headers } })
}
