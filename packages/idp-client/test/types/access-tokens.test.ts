import type { NextApiRequest, NextApiResponse } from 'next'
import { expect, expectTypeOf, test } from 'vitest'
import { IdpClient as ExpressClient } from '../../src/adapters/express/index.ts'
import type { IdpClient as FastifyClient } from '../../src/adapters/fastify/index.ts'
import { IdpClient as KoaClient } from '../../src/adapters/koa/index.ts'
import type { IdpClient as NestClient, RequireAuth } from '../../src/adapters/nest/index.ts'
import type { AuthApiRequest } from '../../src/adapters/next/index.ts'
import { IdpClient as NextClient } from '../../src/adapters/next/index.ts'
import type { IdpClient as NuxtClient } from '../../src/adapters/nuxt/index.ts'
import type { IdpClient as SvelteClient } from '../../src/adapters/sveltekit/index.ts'
import type { AnyApiGuardOptions, Auth, Resource, ResourceGuardOptions, TokenAuth } from '../../src/index.ts'
import { IdpClient } from '../../src/index.ts'

/** Types of resources and of guards with `accept`. */

interface OrderClaims {
  readonly tenant: string
  /** Wrong: the guard checks that it is a string. */
  readonly sub?: number
}

const options = { domain: 'idp.example.com', clientId: 'client', logger: () => {} }
const idp = new IdpClient(options)
const next = new NextClient(options)
const audience = 'https://api.example.com/'
const scopes = ['orders:read', 'orders:write'] as const
const orders = idp.resource({ audience, scopes: ['orders:read', 'orders:write'] })
const open = idp.resource({ audience })
const typed = idp.resource<OrderClaims>({ audience })
const both = idp.resource<OrderClaims, (typeof scopes)[number]>({ audience, scopes })
const noContent = (): Response => new Response(null, { status: 204 })
const computed: string = ['orders', 'read'].join(':')

test('a resource knows its scopes and claims, and is a resource like any other', () => {
  expectTypeOf(orders).toEqualTypeOf<Resource<'orders:read' | 'orders:write'>>()
  expectTypeOf(open).toEqualTypeOf<Resource>()
  expectTypeOf(idp.resource({ audience, scopes: [computed] })).toEqualTypeOf<Resource>()
  expectTypeOf(typed).toEqualTypeOf<Resource<string, OrderClaims>>()
  expectTypeOf(both).toExtend<Resource>()
})

test('scope is one of the scopes of the resource or a list of them; a misspelt one or a list in a string does not compile', () => {
  idp.withApiAuthRequired(noContent, { accept: [orders], scope: 'orders:read' })
  idp.withApiAuthRequired(noContent, { accept: ['session', orders], scope: ['orders:read', 'orders:write'] })
  // @ts-expect-error: no scope of the resource
  expect(() => idp.withApiAuthRequired(noContent, { accept: [orders], scope: 'orders:delete' })).toThrow()
  // @ts-expect-error: no scope of the resource
  expect(() => idp.withApiAuthRequired(noContent, { accept: [orders], scope: ['orders:x'] })).toThrow()
  // @ts-expect-error: a list is an array
  idp.withApiAuthRequired(noContent, { accept: [orders], scope: 'orders:read orders:write' })
  // @ts-expect-error: the same with claims
  expect(() => idp.withApiAuthRequired(noContent, { accept: [both], scope: 'orders:x' })).toThrow()
})

test('a computed scope compiles, and so does any scope of a resource without scopes', () => {
  idp.withApiAuthRequired(noContent, { accept: [orders], scope: computed })
  idp.withApiAuthRequired(noContent, { accept: [orders], scope: [computed] })
  idp.withApiAuthRequired(noContent, { accept: [open], scope: 'orders:read orders:write' })
  const shared = { accept: ['session' as const, orders], scope: 'orders:read' }
  idp.withApiAuthRequired(noContent, shared)
  const declared: ResourceGuardOptions = { accept: [orders], scope: 'orders:read' }
  idp.withApiAuthRequired(noContent, declared)
  expectTypeOf(declared).toExtend<AnyApiGuardOptions>()
})

test('auth is what accept says, also for authorize', () => {
  idp.withApiAuthRequired(
    (_request, { auth }) => {
      expectTypeOf(auth).toEqualTypeOf<TokenAuth>()
      return noContent()
    },
    { accept: [orders], authorize: (auth) => expectTypeOf(auth).toEqualTypeOf<TokenAuth>() },
  )
  idp.withApiAuthRequired(
    (_request, { auth }) => {
      expectTypeOf(auth).toEqualTypeOf<Auth>()
      return noContent()
    },
    { accept: ['session', orders] },
  )
  expectTypeOf(() => idp.requireAuth(new Request(audience), { accept: [typed] })).returns.resolves.toExtend<{
    readonly auth?: TokenAuth<OrderClaims> | undefined
  }>()
})

test('claims have the types of the application, but sub is a string', () => {
  idp.withApiAuthRequired(
    (_request, { auth }) => {
      expectTypeOf(auth.claims.tenant).toEqualTypeOf<string>()
      expectTypeOf(auth.claims.sub).toEqualTypeOf<string>()
      expectTypeOf(auth.claims.exp).toEqualTypeOf<number | undefined>()
      expectTypeOf(auth.claims['other']).toEqualTypeOf<unknown>()
      return noContent()
    },
    { accept: [typed] },
  )
  expectTypeOf<TokenAuth['claims']['sub']>().toEqualTypeOf<string>()
  expectTypeOf<TokenAuth['claims']['tenant']>().toEqualTypeOf<unknown>()
})

test('route handlers and API routes of Next.js have a typed auth', () => {
  const accept = ['session' as const, next.resource<OrderClaims>({ audience })]
  next.withApiAuthRequired(
    async (_request, { auth, params }: { auth: Auth; params: Promise<{ id: string }> }) =>
      Response.json({ sub: auth.sub, ...(await params) }),
    { accept },
  )
  next.withApiAuthRequired(
    (_request, { auth }) => Response.json(auth.kind === 'token' && auth.claims.tenant),
    {
      accept,
    },
  )
  next.withApiAuthRequired(
    (request: AuthApiRequest, response: NextApiResponse) => response.json(request.idpAuth.sub),
    { accept, authorize: (auth) => auth.kind === 'token' && auth.claims.tenant === 'a' },
  )
  next.withApiAuthRequired((_request: NextApiRequest, response: NextApiResponse) => response.json({}), {
    authorize: (auth) => auth.kind === 'session',
  })
  // @ts-expect-error: without accept there is no auth
  next.withApiAuthRequired((request: AuthApiRequest, response: NextApiResponse) =>
    response.json(request.idpAuth),
  )
})

test('guards of middleware type authorize and scope', () => {
  for (const client of [new ExpressClient(options), new KoaClient(options)] as const) {
    const resource = client.resource({ audience, scopes: ['a'] })
    const authorize = (auth: TokenAuth): boolean => auth.clientId === 'mobile'
    if (client instanceof KoaClient) {
      client.requireAuth({ accept: [resource], scope: 'a', authorize: (auth) => auth.clientId === 'mobile' })
      // @ts-expect-error: no scope of the resource
      expect(() => client.requireAuth({ accept: [resource], scope: 'b', authorize })).toThrow()
    } else {
      client.withApiAuthRequired({ accept: [resource], scope: 'a', authorize: (auth) => auth.token !== '' })
      // @ts-expect-error: no scope of the resource
      expect(() => client.withApiAuthRequired({ accept: [resource], scope: 'b', authorize })).toThrow()
      client.withApiAuthRequired({ authorize: (auth) => auth.kind === 'session' })
    }
  }
  void ((fastify: FastifyClient, nuxt: NuxtClient, svelte: SvelteClient): unknown => [
    fastify.requireAuth({ accept: [orders], scope: 'orders:read', authorize: ({ token }) => token !== '' }),
    nuxt.withApiAuthRequired(() => 1, { accept: [orders], authorize: ({ token }) => token !== '' }),
    svelte.requireAuth(noContent, { accept: [typed], authorize: ({ claims }) => claims.tenant === 'a' }),
    // @ts-expect-error: no scope of the resource
    fastify.requireAuth({ accept: [orders], scope: 'orders:x' }),
    // @ts-expect-error: no scope of the resource
    nuxt.withApiAuthRequired(() => 1, { accept: [orders], scope: 'orders:x' }),
    // @ts-expect-error: no scope of the resource
    svelte.requireAuth(noContent, { accept: [orders], scope: 'orders:x' }),
  ])
})

test('the function of the decorator of NestJS returns options with authorize', () => {
  void ((decorate: typeof RequireAuth): unknown => [
    decorate((client) => ({
      accept: [client.resource({ audience })],
      authorize: ({ isClient }) => !isClient,
    })),
    decorate((client) => ({
      accept: ['session', client.resource({ audience, scopes })],
      scope: 'orders:read',
      authorize: (auth) => auth.kind === 'session' || auth.clientId === 'mobile',
    })),
    decorate(() => ({ accept: [orders], authorize: ({ clientId }) => clientId === 'mobile' })),
    decorate((client: NestClient) => ({
      accept: [client.resource({ audience })],
      authorize: ({ clientId }) => !!clientId,
    })),
    decorate(() => ({ sameOrigin: true, authorize: ({ isClient }) => !isClient })),
    decorate<never>((client) => ({
      authorize: async ({ session }) => (await client.sessions.listBySubject(session.user.sub)).length === 1,
    })),
    decorate({ sameOrigin: true, authorize: ({ session }) => session.user.sub !== '' }),
    // @ts-expect-error: no scope of the resource
    decorate((client) => ({ accept: [client.resource({ audience, scopes })], scope: 'orders:x' })),
    // @ts-expect-error: an unknown option
    decorate({ scop: 'orders:read' }),
  ])
})
