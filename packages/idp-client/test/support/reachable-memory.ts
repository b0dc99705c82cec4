import { setImmediate as turn } from 'node:timers/promises'

const collect = (globalThis as { gc?: () => void }).gc

/** Returns what this process uses without garbage; it has to be started with `--expose-gc`. */
export async function reachableMemory(): Promise<NodeJS.MemoryUsage> {
  if (!collect) throw new Error('start this process with --expose-gc')
  // Collections find more once callbacks of the one before have run.
  for (let round = 0; round < 5; round += 1) {
    await turn()
    collect()
  }
  return process.memoryUsage()
}
