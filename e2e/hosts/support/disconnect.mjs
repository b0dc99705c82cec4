import { once } from 'node:events'
import { connect } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Lets code run that waits for the end of a response. */
async function letOthersRun() {
  for (let turn = 0; turn < 20; turn++) await nextTurn()
}

/**
 * Adds an `onSend` hook to an application of Fastify, as that of a session plugin that saves the session. Returns a function
 * that requests a path, and disconnects while the hook runs for the first time. The hook notes each run in `ran`.
 */
export function disconnectWhileSending(app, ran) {
  let socket
  let settle
  const sent = new Promise((resolve) => {
    settle = resolve
  })
  app.addHook('onSend', async (_request, reply) => {
    ran.push('onSend')
    if (ran.length > 1) return
    const closed = once(reply.raw, 'close')
    socket.destroy()
    await closed
    await letOthersRun()
    settle()
  })
  return async (address, path) => {
    const { hostname, port } = new URL(address)
    socket = connect(port, hostname)
    socket.write(`GET ${path} HTTP/1.1\r\nHost: app.example\r\n\r\n`)
    await sent
    await letOthersRun()
  }
}
