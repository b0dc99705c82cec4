import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Absolute path of the repository root. */
export const root = fileURLToPath(new URL('../../', import.meta.url))

/** Absolute path of a file given relative to the repository root. */
export const fromRoot = (relative) => fileURLToPath(new URL(`../../${relative}`, import.meta.url))

/** Paths of the command line tools that are called by path: `.bin` may hold another version's link. */
export const bin = {
  tsc: fromRoot('node_modules/typescript/bin/tsc'),
  biome: fromRoot('node_modules/@biomejs/biome/bin/biome'),
  vitest: fromRoot('node_modules/vitest/vitest.mjs'),
  publint: fromRoot('node_modules/publint/src/cli.js'),
  next: fromRoot('node_modules/next/dist/bin/next'),
}

/**
 * The settings that npm commands of the tests need, whatever the configuration of the user says. With `yes=false` npx installs
 * nothing that it has not cached, for example.
 */
export const npmSettings = {
  npm_config_audit: 'false',
  npm_config_bin_links: 'true',
  npm_config_engine_strict: 'false',
  npm_config_fund: 'false',
  npm_config_include: 'dev',
  npm_config_legacy_peer_deps: 'false',
  npm_config_package_lock: 'true',
  npm_config_prefer_offline: 'true',
  npm_config_save: 'true',
  npm_config_update_notifier: 'false',
  npm_config_yes: 'true',
}

/**
 * Runs a command to its end.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string, env?: Record<string, string | undefined>, show?: boolean }} [options]
 *   `show` passes the output through; otherwise it is collected and returned.
 * @returns {Promise<{ code: number, output: string }>} never rejects for a non-zero exit
 */
export function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: options.cwd ?? root,
      env: { ...process.env, ...npmSettings, ...options.env },
      stdio: options.show ? ['ignore', 'inherit', 'inherit'] : ['ignore', 'pipe', 'pipe'],
    })
    const chunks = []
    child.stdout?.on('data', (chunk) => chunks.push(chunk))
    child.stderr?.on('data', (chunk) => chunks.push(chunk))
    child.once('error', reject)
    child.once('close', (code, signal) => {
      resolve({
        code: code ?? 1,
        output: Buffer.concat(chunks).toString('utf8') + (signal ? `\nstopped by ${signal}\n` : ''),
      })
    })
  })
}

/** Runs a Node script with the running Node version. */
export const runNode = (args, options) => run(process.execPath, args, options)

/** Like `run`, but a non-zero exit becomes an error that carries the output. */
export async function must(command, args, options) {
  const { code, output } = await run(command, args, options)
  if (code !== 0) throw new Error(`${[command, ...args].join(' ')} failed (exit ${code})\n${output}`)
  return output
}

/** Whether this module was started as the program, not imported. */
export const isMain = (meta) => process.argv[1] !== undefined && fileURLToPath(meta.url) === process.argv[1]
