import type { RequestListener } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import Koa from 'koa'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { IdpClient as ExpressClient } from '../../src/adapters/express/index.ts'
import { IdpClient as KoaClient } from '../../src/adapters/koa/index.ts'
import type { Code } from '../../src/errors/code.ts'
import { codes } from '../../src/errors/codes.ts'
import { remedies } from '../../src/errors/remedies.ts'
import type { Remedy } from '../../src/errors/remedy.ts'
import type { IdpClientOptions, LogEvent } from '../../src/index.ts'
import { customFetch } from '../../src/index.ts'
import { clientOptions, signedIn } from './client-options.ts'

const DOMAIN = 'id.internal.example'
const APP = 'https://app.internal.example'
const CLIENT_ID = 'internal-client'

const respondWith = (status: number): IdpClientOptions => ({
  [customFetch]: async () => new Response('not here', { status }),
})

/** An operation that fails when a handler of the application calls it. */
interface Failure {
  readonly code: Code
  readonly remedy: Remedy
  readonly options: IdpClientOptions
  /** Parts of the facts, which only developers and the log get. */
  readonly facts: readonly RegExp[]
  readonly status: number
  call(idp: ExpressClient | KoaClient): Promise<unknown>
}

const failures: Readonly<Record<string, Failure>> = {
  'the provider has no metadata at this address (404)': {
    code: 'DISCOVERY_ERROR',
    remedy: 'DISCOVERY_NOT_FOUND',
    options: respondWith(404),
    facts: [/Requested: https:\/\/id\.internal\.example\/.*HTTP status 404/],
    status: 502,
    call: (idp) => idp.startInteractiveLogin(),
  },
  'the provider is not available (503)': {
    code: 'DISCOVERY_ERROR',
    remedy: 'PROVIDER_UNAVAILABLE',
    options: respondWith(503),
    facts: [/Requested: https:\/\/id\.internal\.example\/.*HTTP status 503/],
    status: 502,
    call: (idp) => idp.startInteractiveLogin(),
  },
  'the provider cannot be reached': {
    code: 'DISCOVERY_ERROR',
    remedy: 'CONNECTION_REFUSED',
    options: {
      [customFetch]: async () => {
        throw Object.assign(new Error(`connect ${DOMAIN}`), { code: 'ECONNREFUSED' })
      },
    },
    facts: [/id\.internal\.example/, /ECONNREFUSED/],
    status: 502,
    call: (idp) => idp.startInteractiveLogin(),
  },
  'the address of the request is not allowed': {
    code: 'BASE_URL_NOT_ALLOWED',
    remedy: 'BASE_URL_NOT_ALLOWED',
    options: { appBaseUrl: [APP, `${APP}:8443`], trustProxy: false },
    facts: [/Allowed: https:\/\/app\.internal\.example, https:\/\/app\.internal\.example:8443/],
    status: 500,
    call: (idp) => idp.startInteractiveLogin(),
  },
  'an option is missing': {
    code: 'INVALID_CONFIGURATION',
    remedy: 'INVALID_CONFIGURATION',
    options: { secret: '' },
    facts: [/secret is missing: set .*IDP_SECRET/],
    status: 500,
    call: (idp) => idp.startInteractiveLogin(),
  },
  'an operation gets other arguments': {
    code: 'INVALID_ARGUMENTS',
    remedy: 'INVALID_ARGUMENTS',
    options: {},
    facts: [/getSession takes /],
    status: 500,
    call: async (idp) => Reflect.apply(idp.getSession, idp, [{ neither: 'request' }]),
  },
}

type Application = (failure: Failure, options: IdpClientOptions) => RequestListener

const hosts: Readonly<Record<string, Application>> = {
  Express: ({ call }, options) => {
    const idp = new ExpressClient(options)
    return express()
      .use(idp.middleware)
      .get('/', async () => void (await call(idp)))
  },
  Koa: ({ call }, options) => {
    const idp = new KoaClient(options)
    const app = new Koa()
    app.silent = true
    app.use(idp.middleware).use(async () => void (await call(idp)))
    // Without the type of the response, which Koa narrows.
    return (request, response) => void app.callback()(request, response)
  },
}

async function visit(
  listener: RequestListener,
): Promise<{ status: number; text: string; cache: string | null }> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const response = await fetch(url, { headers: await signedIn() })
  const { headers, status } = response
  return { status, text: decode(await response.text()), cache: headers.get('cache-control') }
}

/** Express escapes the text of its page. */
const decode = (html: string): string => html.replace(/&#39;/g, "'").replace(/&quot;/g, '"')

afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

describe.each(Object.entries(hosts))('the error handler of %s', (name, create) => {
  describe.each(Object.entries(failures))('%s', (_title, failure) => {
    const run = async (nodeEnv: string | undefined) => {
      vi.stubEnv('NODE_ENV', nodeEnv)
      vi.spyOn(console, 'error').mockImplementation(() => {})
      const events: LogEvent[] = []
      const logger = (event: LogEvent): void => void events.push(event)
      const options = { ...clientOptions, domain: DOMAIN, clientId: CLIENT_ID, appBaseUrl: APP, logger }
      const response = await visit(create(failure, { ...options, ...failure.options }))
      return { ...response, events }
    }
    const sentences = `${codes[failure.code].message} ${remedies[failure.remedy]}`
    // In production Express, and Koa always, name the status only.
    const shows = (nodeEnv: string | undefined): boolean => name === 'Express' && nodeEnv !== 'production'

    test.each(['production', undefined])(
      '[M7,N2] shows constant sentences with NODE_ENV %s',
      async (nodeEnv) => {
        const { cache, events, status, text } = await run(nodeEnv)
        expect(status).toBe(failure.status)
        expect(cache ?? '').not.toContain('public')
        expect(text).not.toMatch(/internal[.-](?:example|client)|ECONNREFUSED|IDP_SECRET/)
        for (const fact of failure.facts) expect(text).not.toMatch(fact)
        if (shows(nodeEnv)) expect(text).toContain(sentences)
        else expect(text).toMatch(/^(?:.|\n)*(?:Internal Server Error|Bad Gateway)/)
        if (failure.code === 'DISCOVERY_ERROR') {
          for (const fact of failure.facts) expect(JSON.stringify(events)).toMatch(fact)
        }
      },
    )

    test.each(['development', 'test'])('[N2] also shows the facts with NODE_ENV %s', async (nodeEnv) => {
      const { status, text } = await run(nodeEnv)
      expect(status).toBe(failure.status)
      if (!shows(nodeEnv)) return
      expect(text).toContain(sentences)
      for (const fact of failure.facts) expect(text).toMatch(fact)
    })
  })
})
