/** The part of Vue that `idp-client/vue` uses; applications have the types of Vue itself. */
declare module 'vue' {
  export interface Ref<T> {
    value: T
  }
  export interface ComputedRef<T> {
    readonly value: T
  }
  export function computed<T>(getter: () => T): ComputedRef<T>
  export function onMounted(hook: () => void): void
  export function onScopeDispose(hook: () => void): void
  export function shallowRef<T>(value: T): Ref<T>
}
