import { text } from 'node:stream/consumers'

/** Reads forms as the body parsers of Koa do, which set only `ctx.request.body`. */
export async function parseForm(ctx, next) {
  if (ctx.is('urlencoded')) ctx.request.body = Object.fromEntries(new URLSearchParams(await text(ctx.req)))
  await next()
}
