/** Whether the platform that is installed is Fastify: the variable says so. Otherwise it is Express. */
export const isFastify = process.env.CONTRACT_PLATFORM === 'fastify'

/** Creates the adapter of the platform. */
export async function createAdapter() {
  const platform = isFastify ? '@nestjs/platform-fastify' : '@nestjs/platform-express'
  const { [isFastify ? 'FastifyAdapter' : 'ExpressAdapter']: Adapter } = await import(platform)
  return new Adapter()
}
