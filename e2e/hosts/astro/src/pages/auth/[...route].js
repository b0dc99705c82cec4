export { ALL } from 'idp-client/astro'

export const prerender = false
