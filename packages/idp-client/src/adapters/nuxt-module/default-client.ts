import { useRuntimeConfig } from '#imports'
import type { RoutesOptions } from '../../config/options.ts'
import { IdpClient } from '../nuxt/client.ts'

const { app, public: options } = useRuntimeConfig()
const { routes } = options['idp'] as { readonly routes: RoutesOptions }

// biome-ignore lint/plugin: sets the variable for the client, since the base path has no option.
if (app.baseURL !== '/') process.env['FRAMEWORK_PUBLIC_BASE_PATH'] ||= app.baseURL.replace(/\/+$/, '')

/** The client of an application that has none of its own: variables, and base path and routes of Nuxt, configure it. */
export const idp: IdpClient = new IdpClient({ allowInsecureRequests: import.meta.dev === true, routes })
