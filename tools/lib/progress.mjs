const EVERY_SECONDS = 10

/** Runs `work`, and prints every ten seconds what is still running. */
export async function withProgress(label, work) {
  let seconds = 0
  const timer = setInterval(() => {
    seconds += EVERY_SECONDS
    console.log(`...     ${label}: running for ${seconds} s`)
  }, EVERY_SECONDS * 1000)
  try {
    return await work()
  } finally {
    clearInterval(timer)
  }
}
