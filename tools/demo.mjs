// npm run demo [-- --check]: the example application and a development provider, from a fresh clone.
import { bin, fromRoot, isMain, runNode } from './lib/run.mjs'
import { setup } from './setup.mjs'

const example = 'examples/next'

/**
 * Starts both. The provider is on 127.0.0.1 and the application on localhost, because a browser keeps
 * one set of cookies per host name, whatever the port.
 */
async function start() {
  const { freePort } = await import('./lib/ports.mjs')
  const { startServer } = await import('./lib/server-process.mjs')
  const { startDevProvider } = await import('../packages/dev-provider/dist/index.js')
  const url = `http://localhost:${await freePort(3000)}`
  const provider = await startDevProvider({ host: '127.0.0.1', port: await freePort(4400) })
  // Sessions in cookies cannot be ended from outside: the example would refuse every logout token, and say so.
  provider.registerApp(url, { backChannelLogout: false })
  const env = { ...provider.env, APP_BASE_URL: url, NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: undefined }
  const args = [bin.next, 'dev', '-H', '127.0.0.1', '-p', new URL(url).port]
  const server = startServer(args, {
    cwd: fromRoot(example),
    env,
    show,
  })
  const stop = async () => {
    await server.stop()
    await provider.stop()
  }
  return { url, provider, server, stop }
}

/** Next names the address it is bound to, where nobody could log in: cookies are those of localhost. */
function show(line) {
  const text = line.replaceAll('\u001b[?25h', '').trimEnd()
  if (text !== '' && !/^- (?:Local|Network):/.test(text)) console.log(`next: ${text}`)
}

/** Waits for the first page, which Next compiles on demand, and looks whether a login would begin. */
async function firstAnswer({ url, provider, server }) {
  const { untilAnswers } = await import('./lib/server-process.mjs')
  const status = await untilAnswers(url, server)
  if (status !== 200) throw new Error(`${url} answers ${status}`)
  const login = await fetch(`${url}/auth/login`, { redirect: 'manual' })
  const location = login.headers.get('location') ?? ''
  if (!location.startsWith(provider.issuer)) throw new Error(`the login of ${url} answers ${login.status}`)
}

async function demo(check) {
  if (!(await setup())) return 1
  const built = await runNode([fromRoot('tools/build.mjs')], { show: true })
  if (built.code !== 0) return built.code
  const running = await start()
  const interrupted = new Promise((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => resolve('interrupted'))
  })
  try {
    await Promise.race([firstAnswer(running), interrupted])
    console.log(`\nOpen ${running.url} and log in as alice, bob or mallory.`)
    console.log(`The development provider is ${running.provider.issuer}.`)
    if (check) return 0
    console.log('Ctrl-C stops both.\n')
    const end = await Promise.race([interrupted, running.server.ended])
    return end === 'interrupted' ? 0 : 1
  } finally {
    await running.stop()
  }
}

if (isMain(import.meta)) {
  const check = process.argv.includes('--check')
  process.exitCode = await demo(check).catch((error) => {
    console.error(error instanceof Error ? error.message : error)
    return 1
  })
}
