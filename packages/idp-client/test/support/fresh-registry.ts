// Test files share a process and its modules. What the library remembers in a process is in this registry, and ends with a file.
const registry = Reflect.get(globalThis, Symbol.for('idp-client')) as Map<string, unknown> | undefined

// Modules keep this one entry, which holds no state.
for (const name of registry?.keys() ?? []) if (!name.startsWith('cache:request-contexts/')) registry?.delete(name)
