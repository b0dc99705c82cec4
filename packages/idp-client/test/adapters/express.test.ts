import type { ErrorRequestHandler, RequestHandler } from 'express'
import express from 'express'
import { describe } from 'vitest'
import type { Auth, FrameworkRequest, FrameworkResponse } from '../../src/adapters/express/index.ts'
import { IdpClient, isIdpError, sendResponse } from '../../src/adapters/express/index.ts'
import type { MakeApplication } from './hosts.ts'
import { places } from './hosts.ts'
import { runContract } from './run-contract.ts'

type Explicit = [] | [req: FrameworkRequest, res: FrameworkResponse]

function explicitArguments(req: FrameworkRequest, res: FrameworkResponse): Explicit {
  return req.query['style'] === 'ambient' ? [] : [req, res]
}

function respondToError(error: unknown, res: FrameworkResponse): void {
  if (isIdpError(error)) res.status(500).json({ code: error.code })
  else res.status(500).send('failed')
}

async function save(idp: IdpClient, req: FrameworkRequest, res: FrameworkResponse): Promise<void> {
  const [, writable] = explicitArguments(req, res)
  const session = await (writable ? idp.getSession(req) : idp.getSession())
  const nobody = {
    user: { sub: 'nobody' },
    tokenSet: { accessToken: '', expiresAt: 0 },
    internal: { createdAt: 0 },
  }
  const update = { ...(session ?? nobody), value: req.query['value'] }
  await (writable ? idp.updateSession(req, writable, update) : idp.updateSession(update))
}

function routes(idp: IdpClient): express.Router {
  const router = express.Router()
  router.get('/public', (_req, res) => {
    res.set('Cache-Control', 'public, max-age=60').send('public')
  })
  router.get('/page', idp.withPageAuthRequired(), async (_req, res) => {
    const session = await idp.getSession()
    res.send(`user=${session?.user.sub}`)
  })
  const api: RequestHandler = async (req, res) => {
    const session = await idp.getSession(req)
    res.json({ sub: session?.user.sub })
  }
  router.get('/api', idp.withApiAuthRequired(api))
  const resource = idp.resource({ audience: 'https://api.example.test/' })
  const respondWithAuth: RequestHandler = (req, res) => {
    res.json({ kind: req.idpAuth?.kind, sub: req.idpAuth?.sub })
  }
  const tokensOnly = { accept: [resource], authorize: ({ isClient }: Auth) => !isClient }
  router.get('/resource', idp.withApiAuthRequired(tokensOnly), respondWithAuth)
  router.all('/shared', idp.withApiAuthRequired({ accept: ['session', resource] }), respondWithAuth)
  router.get('/whoami', async (req, res) => {
    const [request] = explicitArguments(req, res)
    const session = await idp.getSession(request)
    res.json({
      sub: session?.user.sub ?? null,
      value: session?.['value'] ?? null,
      hooked: session?.['hooked'] ?? null,
      createdAt: session?.internal.createdAt ?? null,
    })
  })
  router.get('/unhandled', async (req, res) => {
    const [request] = explicitArguments(req, res)
    res.json(await idp.getSession(request))
  })
  router.get('/update', async (req, res) => {
    await save(idp, req, res)
    res.json({ ok: true })
  })
  router.get('/app-cookie', async (req, res) => {
    res.cookie('app_before', '1')
    await save(idp, req, res)
    res.cookie('app_after', '1').json({ ok: true })
  })
  router.get('/token', async (req, res) => {
    const [request, response] = explicitArguments(req, res)
    res.json(await idp.getAccessToken(request, response))
  })
  router.get('/start', async (req, res) => {
    const { response_mode, returnTo } = req.query
    const options = { returnTo: String(returnTo), authorizationParameters: { response_mode } }
    const [request, response] = explicitArguments(req, res)
    await sendResponse(res, await idp.startInteractiveLogin(options, request, response))
  })
  router.get('/connect', async (req, res) => {
    const options = { connection: 'github', returnTo: String(req.query['returnTo']) }
    const [request, response] = explicitArguments(req, res)
    await sendResponse(
      res,
      await (request ? idp.connectAccount(request, response, options) : idp.connectAccount(options)),
    )
  })
  return router
}

function application(before: readonly RequestHandler[]): MakeApplication {
  return (options, { basePath, target }) => {
    const idp = new IdpClient(options)
    idp.proxy({ prefix: '/proxied', target })
    const app = express()
    for (const handler of before) app.use(handler)
    // A router of its own, so that a base path is a mount path as well.
    const mounted = express.Router().use(idp.middleware, routes(idp))
    app.use(basePath || '/', mounted)
    const onError: ErrorRequestHandler = (error, req, res, next) => {
      if (req.path.endsWith('/unhandled')) next(error)
      else respondToError(error, res)
    }
    app.use(onError)
    return app
  }
}

describe('adapter contract: Express', () => {
  runContract(application([]))
})

describe('adapter contract: Express behind body parsers', () => {
  runContract(application([express.json(), express.text(), express.urlencoded({ extended: true })]), {
    // The parsers change nothing that depends on the place.
    at: places.slice(0, 1),
    proxyLimits: { parsesBodies: true },
  })
})
