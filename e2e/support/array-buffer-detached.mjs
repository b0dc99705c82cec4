// Loaded into Next.js in development on Node.js 20, which lacks `ArrayBuffer.prototype.detached`: React reports that on
// the console, in some runs, and a test that accepted the line could not tell it from another error.
if (!('detached' in ArrayBuffer.prototype)) {
  Object.defineProperty(ArrayBuffer.prototype, 'detached', {
    configurable: true,
    get() {
      try {
        // Throws for a detached buffer, and copies nothing.
        Buffer.from(this)
        return false
      } catch {
        return true
      }
    },
  })
}
