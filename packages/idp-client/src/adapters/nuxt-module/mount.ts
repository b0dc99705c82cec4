import type { User } from '../../session/model/session-data.ts'
import type { NodeResponse } from '../node/binding.ts'
import type { IdpClient } from '../nuxt/client.ts'
import type { FrameworkRequest } from '../nuxt/event-handler.ts'
import type { NitroApp } from '../nuxt/nitro-app.ts'
import { current, isCached } from '../nuxt/sub-request.ts'

/** An event of Nitro, with the rules of its route. */
export interface PageEvent {
  readonly node: FrameworkRequest['node'] & { readonly res: NodeResponse & { getHeaderNames(): string[] } }
  readonly path: string
  /** The event whose handler sent this request to its own application. */
  readonly idpOuter?: PageEvent | undefined
  readonly context: {
    readonly _nitro?: { readonly routeRules?: { readonly [rule: string]: unknown } }
    /** Returns the user for the page of an event; `undefined` if other users get the same response. */
    idpUser?: (event: PageEvent, isGuarded?: boolean) => Promise<User | null | undefined>
  }
}

/** The used part of the `NitroApp` of Nuxt. */
export interface HookedNitroApp extends NitroApp {
  readonly hooks: { hook(name: 'request' | 'beforeResponse', run: (event: PageEvent) => void): unknown }
}

/** Headers that tell caches, also those of one vendor, what to store. */
const cacheHeader = /^(?:.+-)?cache-control$|^surrogate-control$|^x-accel-expires$/

/** Their values that prevent that a cache sends the response to other users. */
const notShared = /private|no-store|no-cache|^0$/i

/** Returns whether Nuxt renders the page of an error. It gets the headers of the response that failed, which are not known here. */
const isErrorPage = ({ path }: PageEvent): boolean => path.startsWith('/__nuxt_error')

/** Returns whether a cache stores the response for other users, or the one that contains it. */
function isShared(event: PageEvent): boolean {
  if (isErrorPage(event)) return true
  // A page contains the responses for its server components.
  if (event.idpOuter && isShared(event.idpOuter)) return true
  const { cache, isr, prerender, static: isStatic } = event.context._nitro?.routeRules ?? {}
  if (import.meta.prerender || isCached(event) || cache || isr || prerender || isStatic) return true
  const { res } = event.node
  return res
    .getHeaderNames()
    .some((name) => cacheHeader.test(name) && !notShared.test(String(res.getHeader(name))))
}

/** Mounts the client of an application on Nitro, and provides the user for pages. A page with a user is stored nowhere. */
export function mount(idp: IdpClient, nitroApp: HookedNitroApp): void {
  idp.plugin(nitroApp)
  const { h3App } = nitroApp
  const { handler } = h3App
  h3App.handler = (event) => handler.call(h3App, Object.assign(event, { idpOuter: current.getStore() }))
  const personal = new WeakSet<object>()
  nitroApp.hooks.hook('request', ({ context }) => {
    // The event of a cached page shares the context, and has no cookies.
    context.idpUser = async (event, isGuarded = false) => {
      if (isShared(event)) {
        if (isGuarded && !isErrorPage(event)) idp.reportSharedPage()
        return undefined
      }
      const session = await idp.getSession(event)
      if (session) personal.add(event.node.res)
      return session?.user ?? null
    }
  })
  // Not before: the page may have set headers of its own.
  nitroApp.hooks.hook('beforeResponse', ({ node: { res } }) => {
    if (!personal.has(res)) return
    const names = res.getHeaderNames().filter((name) => cacheHeader.test(name))
    for (const name of ['cache-control', ...names]) {
      res.setHeader(name, name === 'x-accel-expires' ? '0' : 'private, no-store')
    }
  })
}
