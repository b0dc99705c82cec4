import type { Settings } from '../../config/config.ts'
import type { Application } from '../../engine.ts'
import { IdpError } from '../../errors/base.ts'
import { invalidAtStart } from '../../errors/configuration.ts'
import { isStreamed } from '../../http/responses.ts'
import type { MaybePromise } from '../../lib/chain.ts'
import { recover } from '../../lib/chain.ts'
import { routeKeys } from '../../routes/table.ts'
import type { NodeRequest, NodeResponse } from '../node/binding.ts'
import { sendResponse } from '../node/send.ts'

/** Request type of this entry: the part of `FastifyRequest` that is the same for every server and route. */
export interface FrameworkRequest {
  readonly raw: NodeRequest
  readonly url: string
  readonly originalUrl: string
  readonly params: unknown
  readonly query: unknown
}

/** Response type of this entry: the part of `FastifyReply` that is the same for every server and route. */
export interface FrameworkResponse {
  readonly raw: NodeResponse
  statusCode: number
  header(name: string, value: string): unknown
  send(payload?: unknown): unknown
  hijack(): unknown
  getHeaders(): Record<string, number | string | string[] | undefined>
  callNotFound(): void
}

/** The used part of `FastifyInstance`. */
export interface FastifyServer {
  readonly prefix: string
  hasRequestDecorator(name: string): boolean
  decorateRequest(name: string, value: null): unknown
  addHook(
    name: 'onRequest' | 'preValidation',
    hook: (request: FrameworkRequest, reply: FrameworkResponse, done: (error?: Error) => void) => void,
  ): unknown
  all(
    path: string,
    options: { readonly schema: { readonly hide: boolean } },
    handler: (request: FrameworkRequest, reply: FrameworkResponse) => unknown,
  ): unknown
}

/** A plugin of Fastify 4 and 5. */
export type FastifyPlugin = (app: FastifyServer, options?: { readonly prefix?: string }) => Promise<void>

/** The part of a client that hooks call. */
export interface RequestHooks {
  readonly application: Application
  /** Responds to requests for the auth routes; passes any other request to `next`, inside the ambient scope. */
  serve(request: FrameworkRequest, reply: FrameworkResponse, next: () => void): MaybePromise<unknown>
  inScope(request: FrameworkRequest, next: () => void): void
}

function checkPrefix({ basePath }: Settings, prefix: string): void {
  if (prefix !== '' && prefix !== basePath)
    throw invalidAtStart(
      'Register idp.plugin without prefix, or set FRAMEWORK_PUBLIC_BASE_PATH to the prefix.',
    )
}

/**
 * Returns the paths of the auth routes, and of the APIs that exist by now: their metadata, and what proxies serve. Without the prefix of
 * the server that registers them.
 */
function toRoutePaths({ proxies, resources, settings }: Application, prefix: string): Set<string> {
  checkPrefix(settings, prefix)
  const { basePath, disabledRoutes, routes } = settings
  const enabled = routeKeys.filter((key) => !disabledRoutes.has(key)).map((key) => routes[key])
  const proxied = [...proxies.keys()].flatMap((path) => [path, `${path}/*`])
  const paths = [...enabled, ...resources.keys(), ...proxied]
  return new Set(paths.map((path) => (prefix === '' ? basePath : '') + path))
}

/** Creates a hook, or a middleware. An error ends the request, also a falsy one, which frameworks would ignore. */
export function createHook<Request, Reply>(
  serve: (request: Request, reply: Reply, next: () => void) => MaybePromise<unknown>,
): (request: Request, reply: Reply, done: (error?: Error) => void) => void {
  return (request, reply, done) => {
    let isPassed = false
    const next = (): void => {
      isPassed = true
      done()
    }
    void recover(
      () => serve(request, reply, next),
      (thrown) => {
        if (isPassed) throw thrown
        done(thrown instanceof Error ? thrown : new IdpError('INTERNAL_ERROR', { cause: thrown }))
      },
    )
  }
}

/** Adds the hooks and the routes to a server. */
export function addHooks(app: FastifyServer, { application, inScope, serve }: RequestHooks): void {
  app.addHook('onRequest', createHook(serve))
  // After a body was read, the events of its stream continue the request, outside the scope.
  app.addHook('preValidation', (request, _reply, done) => inScope(request, done))
  // The hook serves them. Without routes it would not run where an outer server handles unknown paths.
  for (const path of toRoutePaths(application, app.prefix))
    app.all(path, { schema: { hide: true } }, (_request, reply) => reply.callNotFound())
}

/** Creates the plugin. Its hooks are those of the server that registers it (`skip-override`, as `fastify-plugin` sets it). */
export function createPlugin(sessionName: string, hooks: RequestHooks): FastifyPlugin {
  const plugin: FastifyPlugin = async (app, { prefix = '' } = {}) => {
    // Fastify ignores the option for plugins that are not encapsulated.
    checkPrefix(hooks.application.settings, prefix)
    if (app.hasRequestDecorator(sessionName)) {
      const remedy = 'register idp.plugin once, or choose another name with the option sessionName.'
      throw invalidAtStart(`request.${sessionName} exists: ${remedy}`)
    }
    app.decorateRequest(sessionName, null)
    addHooks(app, hooks)
  }
  return Object.assign(plugin, {
    [Symbol.for('skip-override')]: true,
    [Symbol.for('plugin-meta')]: { name: 'idp-client', fastify: '>=4' },
  })
}

/** Recognizes a reply of Fastify among the arguments of an operation. */
export function isReply(value: Partial<FrameworkResponse>): boolean {
  return typeof value.send === 'function' && typeof value.raw?.setHeader === 'function'
}

/** Sets headers and status of a reply. Returns the body. */
async function fillReply(reply: FrameworkResponse, response: Response): Promise<object | undefined> {
  // The first versions of Fastify 4 send no other typed array.
  const body = response.body ? Buffer.from(await response.arrayBuffer()) : undefined
  // Fastify adds `Set-Cookie` lines, and replaces other headers.
  for (const [name, value] of response.headers) reply.header(name, value)
  reply.statusCode = response.status
  return body
}

/**
 * Sends a response that arrives bit by bit past Fastify, which would send its head with the first part, and whose `onSend` hooks may
 * collect it. The headers of the reply apply.
 */
async function sendStream(reply: FrameworkResponse, response: Response): Promise<void> {
  reply.hijack()
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) reply.raw.setHeader(name, value)
  await sendResponse(reply.raw, response)
}

/**
 * Sends a response through Fastify, so that its `onSend` hooks and the headers of the reply apply. Resolves once the reply
 * has ended: a handler that returned before would send another one.
 */
export async function sendReply(reply: FrameworkResponse, response: Response): Promise<unknown> {
  if (isStreamed(response)) return sendStream(reply, response)
  const body = await fillReply(reply, response)
  // A reply is a promise of its end.
  return reply.send(body)
}

/**
 * Sends a response instead of continuing the request. Settles only if that fails before the reply is sent: a hook that
 * resolves lets the request pass. The promise of the reply would not do: it also resolves when the client has disconnected
 * while `onSend` hooks still run.
 */
export async function endRequest(reply: FrameworkResponse, response: Response): Promise<never> {
  if (isStreamed(response)) await sendStream(reply, response)
  else reply.send(await fillReply(reply, response))
  return new Promise(() => {})
}
