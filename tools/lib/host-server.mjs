// Runs the applications of hosts.
import { join } from 'node:path'
import { hosts } from './hosts.mjs'
import { freePort } from './ports.mjs'
import { must } from './run.mjs'
import { startServer, untilAnswers } from './server-process.mjs'

/** The option `secret` of every application. */
export const secret = 'a5f1c3e8b7d94e20a5f1c3e8b7d94e20a5f1c3e8b7d94e20a5f1c3e8b7d94e20'

/** Variables of applications in production; none of ours is inherited from the shell. */
const production = {
  NODE_ENV: 'production',
  HOST: '127.0.0.1',
  APP_BASE_URL: undefined,
  IDP_DOMAIN: undefined,
  IDP_CLIENT_ID: undefined,
  IDP_CLIENT_SECRET: undefined,
  IDP_SECRET: undefined,
}

/** Returns the arguments of Node with the paths of installed programs, which are in the folder above an application. */
const resolved = (args, folder) =>
  args.map((arg) => (arg.startsWith('node_modules/') ? join(folder, arg) : arg))

/** Runs a program in the folder of an application. */
export const runNode = (args, { name, folder, program, application, env }) =>
  must(program, resolved(args, folder), {
    cwd: join(folder, application),
    env: {
      NODE_ENV: 'production',
      CI: '1',
      NUXT_TELEMETRY_DISABLED: '1',
      ASTRO_TELEMETRY_DISABLED: '1',
      ...hosts[name].env,
      ...env,
    },
  })

/** Runs `work` while an application runs, with its address and its server. */
export async function running({ name, folder, program, application, env }, work) {
  const port = await freePort()
  const base = `http://127.0.0.1:${port}`
  const { start, env: own = {} } = hosts[name]
  const server = startServer(resolved(start, folder), {
    program,
    cwd: join(folder, application),
    env: { ...production, ...own, ...env(base), PORT: String(port), NITRO_PORT: String(port) },
  })
  try {
    await untilAnswers(`${base}/`, server)
    await work(base, server)
  } catch (error) {
    throw new Error(`${error.message}\nOutput of the server:\n${server.output().slice(-4000)}`)
  } finally {
    await server.stop()
  }
}
