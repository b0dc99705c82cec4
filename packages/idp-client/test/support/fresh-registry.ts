import { afterAll, vi } from 'vitest'

// Test files share a process and its modules, but not what the library remembers in a process.
Reflect.deleteProperty(globalThis, Symbol.for('idp-client'))

// In a page, modules are the page's own: the user that a file has seen is not known to the next one.
if (typeof window !== 'undefined') {
  vi.resetModules()
  afterAll(() => {
    vi.resetModules()
  })
}
