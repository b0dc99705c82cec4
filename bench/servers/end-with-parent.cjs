// Preloaded by servers: they end when the process that started them ends, however it ends, because their standard input closes.
process.stdin.on('end', () => process.exit()).resume()
process.stdin.unref()
