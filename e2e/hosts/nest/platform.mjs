/** Creates the adapter of the platform that is installed: of Express, or of Fastify if the variable says so. */
export async function createAdapter() {
  const isFastify = process.env.CONTRACT_PLATFORM === 'fastify'
  const platform = isFastify ? '@nestjs/platform-fastify' : '@nestjs/platform-express'
  const { [isFastify ? 'FastifyAdapter' : 'ExpressAdapter']: Adapter } = await import(platform)
  return new Adapter()
}
