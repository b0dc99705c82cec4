import { connect } from 'node:net'

/** Ends a test that hangs, in milliseconds. */
const HANG_GUARD = 60_000

/**
 * Sends bytes, one for each character, and returns all that arrives until the server closes the connection: `sendBytes` of a
 * `ContractHost`.
 */
export function sendBytes({ hostname, port }: URL, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    let received = ''
    socket.setEncoding('latin1')
    socket.setTimeout(HANG_GUARD, () =>
      socket.destroy(new Error('The server does not close the connection.')),
    )
    socket.on('data', (part: string) => {
      received += part
    })
    // A reset is how a server says that the response is not complete.
    socket.on('error', (error) => (received === '' ? reject(error) : resolve(received)))
    socket.on('close', () => resolve(received))
    socket.write(bytes, 'latin1')
  })
}
