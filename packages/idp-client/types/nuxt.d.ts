/** The flags that Nuxt and Nitro replace when they build an application. */
interface ImportMeta {
  readonly dev?: boolean
  readonly prerender?: boolean
  readonly server?: boolean
}

/** The part of Nuxt, Vue and Nitro that the module for Nuxt imports where it runs; applications have their types. */
declare module '#imports' {
  export interface PageRoute {
    readonly fullPath: string
  }
  export interface NuxtApp {
    readonly $router: {
      readonly currentRoute: { readonly value: PageRoute }
      resolve(path: string): { readonly href: string }
    }
    readonly $userSession: unknown
    readonly hooks: { hookOnce(name: string, run: () => void): unknown }
    readonly isHydrating?: boolean
    readonly payload: object
    runWithContext<T>(run: () => T): T
  }
  export interface ErrorProperties {
    readonly cause: unknown
    readonly fatal: boolean
    readonly message: string
    readonly statusCode: number
  }
  export function computed<T>(getter: () => T): import('vue').ComputedRef<T>
  export function createError(properties: ErrorProperties): Error
  export function defineNuxtPlugin(setup: (app: NuxtApp) => Promise<object>): object
  export function defineNuxtRouteMiddleware(middleware: (to: PageRoute) => Promise<unknown>): object
  export function navigateTo(to: string, options: { readonly external: boolean }): unknown
  export function shallowRef<T>(value: T): import('vue').Ref<T>
  export function useNuxtApp(): NuxtApp
  export function useRequestEvent(): { readonly context: object } | undefined
  export function useRuntimeConfig(): {
    readonly app: { readonly baseURL: string }
    readonly public: { readonly [name: string]: unknown }
  }
}
