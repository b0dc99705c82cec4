import express from 'express'
import { codes, IdpClient, isIdpError } from 'idp-client/express'
import { openStore } from './store.mjs'

/** Starts one process of the application; resolves when it takes requests. */
export async function startWorker({ port, env }) {
  const { store } = await openStore(env)
  const idp = new IdpClient({ sessionStore: store, ...settingsFrom(env) })
  const server = createApplication(idp).listen(port, '127.0.0.1')
  const stop = () => {
    if (!server.listening) return
    // A refresh continues when its client has disconnected, and its tokens still have to be saved: at most for sessionLockTimeout.
    const longest = Math.max(15_000, 2 * Number(env.HTTP_TIMEOUT ?? 5000) + 5000)
    server.close(() => setTimeout(() => process.exit(0), longest))
    server.closeIdleConnections()
  }
  // Ctrl-C sends SIGINT to every process, and the primary SIGTERM after it.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, stop)
}

/** Beside the variables that the library reads itself; for trying out and for the soak test. */
function settingsFrom(env) {
  return {
    allowInsecureRequests: env.ALLOW_INSECURE === '1',
    ...(env.AUDIENCE ? { authorizationParameters: { audience: env.AUDIENCE } } : {}),
    ...(env.HTTP_TIMEOUT ? { httpTimeout: Number(env.HTTP_TIMEOUT) } : {}),
    ...(env.INACTIVITY ? { session: { inactivityDuration: Number(env.INACTIVITY) } } : {}),
  }
}

function createApplication(idp) {
  const app = express()
  app.use((_req, res, next) => {
    res.set('X-Process', String(process.pid))
    next()
  })
  app.use(idp.middleware)
  app.use(express.json())

  app.get('/', async (_req, res) => {
    const session = await idp.getSession()
    res.type('html').send(page(session))
  })

  // Every note is a member of the session, so that notes written at the same moment all stay.
  app.put('/notes/:name', idp.withApiAuthRequired(), async (req, res) => {
    const session = await idp.getSession()
    await idp.updateSession({ ...session, [`note:${req.params.name}`]: req.body.value })
    res.json({})
  })

  app.get('/notes', idp.withApiAuthRequired(), async (_req, res) => {
    const session = await idp.getSession()
    const notes = Object.entries(session).filter(([name]) => name.startsWith('note:'))
    res.json({
      sub: session.user.sub,
      notes: Object.fromEntries(notes.map(([name, value]) => [name.slice(5), value])),
    })
  })

  app.get('/token', idp.withApiAuthRequired(), async (_req, res) => {
    const { token, expiresAt } = await idp.getAccessToken()
    res.json({ subject: decodeSubject(token), expiresAt })
  })

  app.get('/devices', idp.withApiAuthRequired(), async (_req, res) => {
    const { user } = await idp.getSession()
    const current = await idp.sessions.currentId()
    const sessions = await idp.sessions.listBySubject(user.sub)
    res.json(
      sessions.map(({ id, createdAt, lastUsedAt }) => ({
        id,
        createdAt,
        lastUsedAt,
        current: id === current,
      })),
    )
  })

  app.delete('/devices/:id', idp.withApiAuthRequired(), async (req, res) => {
    const { user } = await idp.getSession()
    const mine = await idp.sessions.listBySubject(user.sub)
    // Only the user's own sessions, for any requested id.
    if (!mine.some(({ id }) => id === req.params.id)) return res.status(404).json({ code: 'NOT_FOUND' })
    await idp.sessions.revoke(req.params.id)
    res.json({})
  })

  app.use((error, _req, res, _next) => {
    if (!isIdpError(error))
      return res.status(error.status ?? 500).json({ code: 'UNTYPED', because: error.message })
    const cause = isIdpError(error.cause) ? { because: error.cause.code, said: error.cause.error } : {}
    res.status(codes[error.code].status).json({ code: error.code, ...cause })
  })
  return app
}

function page(session) {
  const body = session
    ? '<p>You are signed in. <a href="/devices">Devices</a>, <a href="/auth/logout">log out</a></p>'
    : '<p><a href="/auth/login">Log in</a></p>'
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Cluster</title><h1>Process ${process.pid}</h1>${body}</html>`
}

/** The user that an access token was issued for; the API would verify it, this page only shows it. */
function decodeSubject(token) {
  const payload = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')
  return payload.startsWith('{') ? JSON.parse(payload).sub : undefined
}
