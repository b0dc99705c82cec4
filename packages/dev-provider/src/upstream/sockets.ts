import type { Socket } from 'node:net'

const destroyedHere = new WeakSet<Socket>()

/** Destroys a connection, which then does not count as closed by the client. */
export function destroySocket(socket: Socket): void {
  destroyedHere.add(socket)
  socket.destroy()
}

export function isDestroyedHere(socket: Socket): boolean {
  return destroyedHere.has(socket)
}
