import { useRuntimeConfig } from '#imports'
import type { RoutesOptions } from '../../config/options.ts'
import { IdpClient } from '../nuxt/client.ts'

const { routes } = useRuntimeConfig().public['idp'] as { readonly routes: RoutesOptions }

/** The client of an application that has none of its own: variables and the paths of the module configure it. */
export const idp: IdpClient = new IdpClient({ allowInsecureRequests: import.meta.dev === true, routes })
