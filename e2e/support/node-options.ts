/** Variables for a program that runs `next dev`: `NODE_OPTIONS` that add what React misses in Node.js 20. */
export const nextDevVariables = {
  NODE_OPTIONS: `--import=${new URL('./array-buffer-detached.mjs', import.meta.url).href}`,
} as const
