const listeners = new Set<(event: Event) => void>()
let tabs: BroadcastChannel | undefined

/**
 * Calls back when the user returns to the page, when the network does, and (`message`) when another tab says who is
 * signed in there.
 */
export function listen(listener: (event: Event) => void, on: boolean): void {
  listeners[on ? 'add' : 'delete'](listener)
  connect()
  // An existing entry is not added twice.
  document.addEventListener('visibilitychange', hear)
  for (const type of ['focus', 'online', 'pageshow', 'pagehide']) addEventListener(type, hear)
}

/** Tells the other tabs of this origin who is signed in; they ask the server if they know better. */
export function tellTabs(sub: string | null): void {
  tabs?.postMessage(sub)
}

function hear(event: Event): void {
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
  tabs ??= openChannel('idp-client', hear)
}

/** Undefined where the browser has no such channels. */
export function openChannel(
  name: string,
  onmessage: (event: MessageEvent) => void,
): BroadcastChannel | undefined {
  if (typeof BroadcastChannel === 'undefined') return undefined
  return Object.assign(new BroadcastChannel(name), { onmessage })
}
