import { vi } from 'vitest'

/* Stands for the part of Nuxt and Vue that the code of pages imports; both are installed with the example only. */

export const computed = <T>(getter: () => T): { readonly value: T } => ({
  get value() {
    return getter()
  },
})
export const shallowRef = <T>(value: T): { value: T } => ({ value })
/** Notes where the browser is sent. */
export const navigateTo = vi.fn<(to: string, options: { readonly external: boolean }) => void>()
export function useNuxtApp(): never {
  throw new Error('There is no application of Nuxt in this test.')
}
