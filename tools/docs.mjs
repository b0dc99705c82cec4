// npm run docs: serves the site of docs/ on the loopback address while its pages change. npm run test:docs builds and tests it.
import { existsSync } from 'node:fs'
import { fromRoot, isMain, must, runNode } from './lib/run.mjs'

const folder = fromRoot('site')
const vitepress = fromRoot('site/node_modules/vitepress/bin/vitepress.js')

/** The site has packages of its own, which no other command needs. */
async function install() {
  if (!existsSync(vitepress)) await must('npm', ['ci', '--ignore-scripts'], { cwd: folder })
}

const commands = {
  serve: () => runNode([vitepress, 'dev', '--host', '127.0.0.1'], { cwd: folder, show: true }),
  build: () => runNode([vitepress, 'build'], { cwd: folder, show: true }),
  async test(...args) {
    const built = await commands.build()
    return built.code === 0 ? runNode(['site/test/main.mjs', ...args], { show: true }) : built
  },
}

if (isMain(import.meta)) {
  const [name = 'serve', ...args] = process.argv.slice(2)
  await install()
  const { code } = await commands[name](...args)
  process.exitCode = code
}
