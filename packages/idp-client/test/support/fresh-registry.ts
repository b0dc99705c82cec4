// Test files share a process and its modules, but not what the library remembers in a process.
Reflect.deleteProperty(globalThis, Symbol.for('idp-client'))
