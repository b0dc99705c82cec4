import { createServer } from 'node:net'

/**
 * A TCP port that nothing listens on at the moment, on both loopback addresses.
 *
 * @param {number} [wanted] tried first; a free one is taken when it is busy
 */
export async function freePort(wanted = 0) {
  const port = await bindable(wanted, '127.0.0.1')
  if (port === null) return freePort(0)
  return (await bindable(port, '::1')) === null ? freePort(0) : port
}

/** The port if it can be bound, null if it is taken. A machine without IPv6 has nothing that could be taken. */
function bindable(port, host) {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', (error) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(null)
      else if (host === '::1') resolve(port)
      else reject(error)
    })
    server.listen({ port, host, exclusive: true }, () => {
      const { port: bound } = server.address()
      server.close(() => resolve(bound))
    })
  })
}
