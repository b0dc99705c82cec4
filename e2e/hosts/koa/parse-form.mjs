import { text } from 'node:stream/consumers'
import { isProxied } from './support/contract.mjs'

/** Reads forms as the body parsers of Koa do, which set only `ctx.request.body`. */
export async function parseForm(ctx, next) {
  if (ctx.is('urlencoded') && !isProxied(ctx.path))
    ctx.request.body = Object.fromEntries(new URLSearchParams(await text(ctx.req)))
  await next()
}
