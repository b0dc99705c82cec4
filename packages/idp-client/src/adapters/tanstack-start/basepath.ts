import type { Settings } from '../../config/config.ts'
import { reportFrameworkBase } from '../../config/framework-base.ts'

/** The part of TanStack Start's own context of a request that is used. */
interface StartContext {
  readonly getRouter: () => Promise<{ readonly basepath?: string }>
  /** `router` for pages, whose router exists; `serverFn` for a call of a server function, which has none. */
  readonly handlerType?: string
}

/** Reports a `basepath` that the base path does not name, during a request for a page: only its router has the `basepath`. */
export async function reportBasepath(settings: Settings): Promise<void> {
  const key = Symbol.for('tanstack-start:start-storage-context')
  const storage: { getStore(): StartContext | undefined } | undefined = Reflect.get(globalThis, key)
  const context = storage?.getStore()
  if (context?.handlerType !== 'router') return
  const { basepath } = await context.getRouter()
  if (!basepath) return
  // From `base` of Vite it comes without slashes.
  reportFrameworkBase(settings, `/${basepath.replace(/^\//, '')}`)
}
