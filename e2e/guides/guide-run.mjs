// Makes the application of a guide as a reader would, and visits it.
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, delimiter, dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseEnv } from 'node:util'
import { freePort } from '../../tools/lib/ports.mjs'
import { must, npmSettings } from '../../tools/lib/run.mjs'
import { startServer, untilResponds } from '../../tools/lib/server-process.mjs'
import { startChromium } from '../fixtures/support/chromium.ts'
import { visitAction, visitExample } from '../support/example-visit.mjs'
import { writeFonts } from '../support/next-fonts.mjs'

/** Bound by the run whose servers have the printed ports, so that runs on one machine take turns. */
const TURN_PORT = 39_117

/** None of ours is inherited from the shell, and nothing that changes what a framework or a starter does. */
const variables = {
  APP_BASE_URL: undefined,
  HOST: undefined,
  IDP_CLIENT_ID: undefined,
  IDP_CLIENT_SECRET: undefined,
  IDP_DOMAIN: undefined,
  IDP_SECRET: undefined,
  NODE_ENV: undefined,
  PORT: undefined,
  ASTRO_TELEMETRY_DISABLED: '1',
  NEXT_TELEMETRY_DISABLED: '1',
  NUXT_TELEMETRY_DISABLED: '1',
  // Those of Vitest: Astro serves no pages with the first, and takes the others for those of the application.
  VITEST: undefined,
  BASE_URL: undefined,
  DEV: undefined,
  MODE: undefined,
  PROD: undefined,
  SSR: undefined,
  TEST: undefined,
}

/**
 * Returns a printed command with the tarballs in place of our packages, which are not published yet. This is the only difference
 * between what is printed and what runs.
 *
 * @param {Record<string, string>} tarballs by name of the package
 */
export const withTarballs = (line, tarballs) =>
  /^(?:npm (?:install|i)|bun add) /.test(line)
    ? line.replaceAll(/(?<= )idp-(?:client|dev-provider)(?= |$)/g, (name) => tarballs[name])
    : line

const isStarter = (line) => /^(?:npm create|npx) /.test(line)

/** The application of a guide in an empty folder. */
export class GuideRun {
  #blocks
  #env
  #starter
  #tarballs
  #home = mkdtempSync(join(tmpdir(), 'idp-guide-'))
  /** Where the commands run. */
  folder = this.#home
  #servers = []

  /**
   * @param {ReturnType<typeof import('../../tools/lib/guides.mjs').parseGuide>} blocks
   * @param {{ program: string, starter?: string, tarballs: Record<string, string> }} options `program`: path of Node.js;
   *   `starter`: folder with the recorded output of the starter
   */
  constructor(blocks, { program, starter, tarballs }) {
    this.#blocks = blocks
    this.#starter = starter
    this.#tarballs = tarballs
    const global = join(this.#home, '.global')
    const path = [dirname(program), join(global, 'bin'), process.env.PATH].join(delimiter)
    for (const tarball of Object.values(tarballs)) cpSync(tarball, join(this.#home, basename(tarball)))
    this.#env = {
      ...npmSettings,
      ...variables,
      ...writeFonts(this.#home),
      npm_config_prefix: global,
      PATH: path,
    }
  }

  #findBlocks(role) {
    return this.#blocks.filter((block) => block.role === role)
  }

  /** Runs the commands of a role, each to its end. */
  async run(role) {
    for (const { lines } of this.#findBlocks(role))
      for (const line of lines)
        if (role === 'create' && this.#starter && isStarter(line)) this.#copyStarter(lines)
        else await this.#runLine(line)
  }

  /** Copies what a starter created into the folder that the commands behind it go to. */
  #copyStarter(lines) {
    const target = lines.flatMap((line) => /^cd (\S+)$/.exec(line)?.[1] ?? [])[0]
    cpSync(this.#starter, join(this.folder, target), { recursive: true })
  }

  async #runLine(line) {
    const target = /^cd (\S+)$/.exec(line)?.[1]
    if (target !== undefined) this.folder = join(this.folder, target)
    else await must('sh', ['-c', withTarballs(line, this.#tarballs)], { cwd: this.folder, env: this.#env })
  }

  /** Makes an empty folder as the guide does, without the manifest, which `init` creates. */
  async makeFolder() {
    for (const { lines } of this.#findBlocks('create'))
      for (const line of lines) if (!line.startsWith('npm init')) await this.#runLine(line)
  }

  /** The SHA-256 of the files of the starter that the guide replaces, by path. */
  hashStarterFiles() {
    const paths = this.#blocks.flatMap(({ path }) => path ?? [])
    const existing = paths.filter((path) => existsSync(join(this.folder, path)))
    const hash = (path) =>
      createHash('sha256')
        .update(readFileSync(join(this.folder, path)))
        .digest('hex')
    return Object.fromEntries(existing.map((path) => [path, hash(path)]))
  }

  /**
   * Runs `idp-client init` in place of what the guide prints after `create`.
   *
   * @param {string[]} args
   * @returns {Promise<string[]>} the commands that it says to run
   */
  init(args) {
    return this.#runPacked(['idp-client'], ['idp-client', 'init', ...args, '--from', '..'])
  }

  /**
   * Runs `create-idp-app`, which makes the folder itself.
   *
   * @param {string[]} args
   * @returns {Promise<string[]>} the commands that it says to run
   */
  async createApp(args) {
    const words = ['create-idp-app', 'my-app', ...args, '--from', '.']
    const [enter, ...commands] = await this.#runPacked(['create-idp-app', 'idp-client'], words)
    await this.#runLine(enter)
    return commands
  }

  async #runPacked(names, words) {
    const place = (name) => join(this.#home, basename(this.#tarballs[name]))
    const packages = names.flatMap((name) => ['--package', place(name)])
    const output = await must('npx', ['--yes', ...packages, ...words], { cwd: this.folder, env: this.#env })
    const [line] = /(?<=\n {2})\S.*(?=\n$)/.exec(output) ?? []
    if (line === undefined) throw new Error(`${words[0]} says no command:\n${output}`)
    return line.split(' && ')
  }

  /** Runs commands to their end. */
  async runCommands(lines) {
    for (const line of lines) await must('sh', ['-c', line], { cwd: this.folder, env: this.#env })
  }

  writeFiles() {
    for (const { path, text } of this.#blocks) {
      if (path === undefined) continue
      mkdirSync(dirname(join(this.folder, path)), { recursive: true })
      writeFileSync(join(this.folder, path), text)
    }
  }

  /** Runs a block whose last command does not end. */
  async #start({ lines }) {
    for (const line of lines.slice(0, -1)) await this.#runLine(line)
    const server = startServer(['-c', lines.at(-1)], { program: 'sh', cwd: this.folder, env: this.#env })
    this.#servers.push(server)
    return server
  }

  /**
   * Starts the provider and the application, and visits it. A second block of the role `provider` is that of production.
   *
   * @param {'development' | 'production'} role
   * @param {{ action?: boolean }} guide
   */
  async visit(role, { action = false }) {
    const providers = this.#findBlocks('provider')
    const block = role === 'production' ? providers.at(-1) : providers[0]
    await this.#visitServer({ app: toApp(block), action }, async () => {
      const provider = await this.#startProvider(block)
      const server = await this.#start(this.#findBlocks(role)[0])
      return { provider, server }
    })
  }

  /**
   * Starts provider and application with one command, and visits the application.
   *
   * @param {string} command
   * @param {{ action?: boolean }} guide
   */
  visitCommand(command, { action = false }) {
    const app = toApp(this.#findBlocks('provider')[0])
    return this.#visitServer({ app, action }, async () => {
      await assertFree('4400')
      return { server: await this.#start({ lines: [command] }) }
    })
  }

  async #visitServer({ app, action }, start) {
    const giveUp = await takeTurn()
    let browser
    try {
      await assertFree(new URL(app).port)
      const { provider, server } = await start()
      await untilResponds(app, server)
      browser = await startChromium(provider && { provider })
      await visitExample(browser, app)
      if (action) await visitAction(browser, app)
    } catch (error) {
      const output = this.#servers.map((each) => each.output().slice(-4000)).join('\n')
      throw new Error(`${error.message}\nOutput of the servers:\n${output}`)
    } finally {
      await browser?.close()
      await this.#stop()
      giveUp()
    }
  }

  async #startProvider(block) {
    const line = block.lines.at(-1)
    await assertFree(/--port (\d+)/.exec(line)?.[1] ?? '4400')
    const file = join(this.folder, /--write (\S+)/.exec(line)[1])
    const before = writtenAt(file)
    const server = await this.#start(block)
    while (writtenAt(file) === before) {
      if (server.hasEnded()) throw new Error('the provider ended')
      await delay(100)
    }
    const { IDP_DOMAIN: issuer, NODE_EXTRA_CA_CERTS: caPath } = parseEnv(readFileSync(file, 'utf8'))
    if (!issuer.startsWith('https:')) return undefined
    return { origin: new URL(issuer).origin, ca: readFileSync(caPath, 'utf8') }
  }

  async #stop() {
    await Promise.all(this.#servers.splice(0).map((server) => server.stop()))
  }

  /** Returns the installed version of a package. */
  readVersion(name) {
    const manifest = join(this.folder, 'node_modules', name, 'package.json')
    return JSON.parse(readFileSync(manifest, 'utf8')).version
  }

  remove() {
    rmSync(this.#home, { recursive: true, force: true })
  }
}

const toApp = ({ lines }) => /--app (\S+)/.exec(lines.at(-1))[1]

const writtenAt = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs

async function assertFree(port) {
  if ((await freePort(Number(port))) !== Number(port))
    throw new Error(
      `port ${port} is in use: the guides run on the printed ports, end the program that has it`,
    )
}

/** Waits until no other run on this machine has the printed ports. */
async function takeTurn() {
  for (;;) {
    const server = createServer()
    const isMine = await new Promise((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(TURN_PORT, '127.0.0.1', () => resolve(true))
    })
    if (isMine) return () => server.close()
    await delay(1000)
  }
}
