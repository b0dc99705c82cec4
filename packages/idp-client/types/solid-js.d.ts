/** The part of Solid that `idp-client/solid` uses; applications have the types of Solid itself. */
declare module 'solid-js' {
  export function createSignal<T>(value: T): [get: () => T, set: (value: T) => unknown]
  export function onCleanup(callback: () => void): void
  export function onMount(callback: () => void): void
}
