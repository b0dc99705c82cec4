/** The types of Fastify that the adapter extends. Fastify is not installed here; applications get Fastify's own types. */
declare module 'fastify' {
  export interface FastifyRequest {}
}
