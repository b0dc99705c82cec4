// The same application on every host of Node that the Express entry serves: a public page, one behind the page guard,
// one behind the API guard, one whose guard throws, and one whose handler does.
import 'reflect-metadata'
import { Controller, Get, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import express421 from 'express'
import express418 from 'express-4-18'
import express5 from 'express-5'
import fastify from 'fastify'
import { IdpClient } from 'idp-client/express'
import Koa from 'koa'

const greeting = async (idp) => {
  const session = await idp.getSession()
  return session ? `signed in as ${session.user.sub}` : 'public'
}

const broken = async () => {
  throw new Error('the handler has failed')
}

/** Guards of a client without a secret cannot decide about anybody. */
const undecided = () => new IdpClient({ secret: '', logger: () => {} })

function onExpress(express) {
  return (idp) => {
    const app = express()
    app.use(idp.middleware)
    app.get('/', (_req, res, next) => void greeting(idp).then((text) => res.send(text), next))
    app.get(
      '/protected',
      idp.withPageAuthRequired(async (_req, res) => void res.send(await greeting(idp))),
    )
    app.get('/api/me', idp.withApiAuthRequired(), (_req, res, next) => {
      idp.getSession().then((session) => res.json({ sub: session.user.sub }), next)
    })
    app.get('/broken', idp.withPageAuthRequired(broken))
    app.get('/undecided', undecided().withPageAuthRequired(), (_req, res) => void res.send('let in'))
    app.use((error, _req, res, _next) => void res.status(503).send(error.code ?? error.message))
    return app
  }
}

function onKoa(idp) {
  const app = new Koa({ env: 'test' })
  app.silent = true
  const guards = {
    '/protected': idp.withPageAuthRequired(),
    '/broken': idp.withPageAuthRequired(),
    '/api/me': idp.withApiAuthRequired(),
    '/undecided': undecided().withPageAuthRequired(),
  }
  app.use((ctx, next) => idp.middleware(ctx.req, ctx.res, next))
  app.use((ctx, next) => guards[ctx.path]?.(ctx.req, ctx.res, next) ?? next())
  app.use(async (ctx) => {
    if (ctx.path === '/broken') await broken()
    if (ctx.path === '/api/me') ctx.body = { sub: (await idp.getSession()).user.sub }
    else ctx.body = ctx.path === '/undecided' ? 'let in' : await greeting(idp)
  })
  return app.callback()
}

async function onFastify(idp) {
  const app = fastify()
  const onRequest = (handler) => ({
    onRequest: (request, reply, done) => void handler(request.raw, reply.raw, done),
  })
  app.addHook('onRequest', onRequest(idp.middleware).onRequest)
  app.get('/', () => greeting(idp))
  app.get('/protected', onRequest(idp.withPageAuthRequired()), () => greeting(idp))
  app.get('/api/me', onRequest(idp.withApiAuthRequired()), async () => ({
    sub: (await idp.getSession()).user.sub,
  }))
  app.get('/broken', onRequest(idp.withPageAuthRequired()), broken)
  app.get('/undecided', onRequest(undecided().withPageAuthRequired()), () => 'let in')
  await app.ready()
  return (req, res) => app.routing(req, res)
}

/** Decorators of Nest as plain calls, so that no compiler is needed. */
function action(controller, method, path) {
  const descriptor = Object.getOwnPropertyDescriptor(controller.prototype, method)
  Get(path)(controller.prototype, method, descriptor)
}

async function onNest(idp) {
  class Pages {
    home() {
      return greeting(idp)
    }
    async me() {
      return { sub: (await idp.getSession()).user.sub }
    }
    broken() {
      return broken()
    }
    undecided() {
      return 'let in'
    }
  }
  action(Pages, 'home', ['/', '/protected'])
  action(Pages, 'me', '/api/me')
  action(Pages, 'broken', '/broken')
  action(Pages, 'undecided', '/undecided')
  Controller()(Pages)

  class App {
    configure(consumer) {
      consumer.apply(idp.middleware).forRoutes('*')
      consumer.apply(idp.withPageAuthRequired()).forRoutes('/protected', '/broken')
      consumer.apply(idp.withApiAuthRequired()).forRoutes('/api/me')
      consumer.apply(undecided().withPageAuthRequired()).forRoutes('/undecided')
    }
  }
  Module({ controllers: [Pages] })(App)
  const app = await NestFactory.create(App, { logger: false })
  await app.init()
  return app.getHttpAdapter().getInstance()
}

function onNodeHttp(idp) {
  const routes = {
    '/protected': idp.withPageAuthRequired(async (_req, res) => res.end(await greeting(idp))),
    '/api/me': idp.withApiAuthRequired(async (_req, res) => {
      res.end(JSON.stringify({ sub: (await idp.getSession()).user.sub }))
    }),
    '/broken': idp.withPageAuthRequired(broken),
    '/undecided': undecided().withPageAuthRequired((_req, res) => res.end('let in')),
  }
  const home = async (_req, res) => res.end(await greeting(idp))
  const route = (req, res) => (routes[req.url.split('?', 1)[0]] ?? home)(req, res)
  return async (req, res) => {
    try {
      await idp.middleware(req, res, () => route(req, res))
    } catch {
      res.statusCode = 503
      res.end()
    }
  }
}

/** By name: what makes a listener for `node:http` of a client. */
export const hosts = {
  'express-4.18': onExpress(express418),
  'express-4.21': onExpress(express421),
  'express-5': onExpress(express5),
  koa: onKoa,
  fastify: onFastify,
  nest: onNest,
  'node-http': onNodeHttp,
}
