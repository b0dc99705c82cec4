const listeners = new Set<(event: Event) => void>()
let tabs: BroadcastChannel | undefined

/** Returns false on a server, and if a test has removed its environment before this code was loaded, or a message arrived. */
export const hasPage = (): boolean => typeof document !== 'undefined'

/**
 * Adds or removes a listener for the return of the user, the return of the network, and (`message`) another tab that
 * reports its user.
 */
export function listen(listener: (event: Event) => void, on: boolean): void {
  listeners[on ? 'add' : 'delete'](listener)
  connect()
  // A listener that is already registered is not added twice.
  document.addEventListener('visibilitychange', onEvent)
  for (const type of ['focus', 'online', 'pageshow', 'pagehide']) addEventListener(type, onEvent)
}

/**
 * Reports who is signed in to the other tabs of this origin; they request the profile route if they have another user or
 * organization.
 */
export function notifyTabs(identity: string | null): void {
  tabs?.postMessage(identity)
}

function onEvent(event: Event): void {
  if (!hasPage()) return
  if (event.type === 'pagehide') {
    // An open channel would keep the page out of the back/forward cache.
    tabs?.close()
    tabs = undefined
    return
  }
  connect()
  for (const listener of [...listeners]) listener(event)
}

function connect(): void {
  tabs ??= openChannel('idp-client', onEvent)
}

/** Opens a channel, or returns `undefined` if the browser does not support `BroadcastChannel`. */
export function openChannel(
  name: string,
  onmessage: (event: MessageEvent) => void,
): BroadcastChannel | undefined {
  if (typeof BroadcastChannel === 'undefined') return undefined
  return Object.assign(new BroadcastChannel(name), { onmessage })
}
