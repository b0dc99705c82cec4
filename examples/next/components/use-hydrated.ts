import { useSyncExternalStore } from 'react'

const subscribe = () => () => {}

/** Returns false on the server and during hydration. A form that is submitted earlier reloads the page. */
export function useHydrated(): boolean {
  return useSyncExternalStore(
    subscribe,
    () => true,
    () => false,
  )
}
