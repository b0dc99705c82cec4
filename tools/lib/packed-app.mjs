import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pack } from '../pack.mjs'
import { unpack } from './package-content.mjs'
import { bin, fromRoot, runNode } from './run.mjs'

/**
 * A folder with the packed `idp-client` in its `node_modules`. It lies below the packages of the repository, where the
 * packed one finds its dependencies and the compiler.
 */
export class PackedApp {
  /** Where the package is installed. */
  installed

  #folder

  constructor(name) {
    this.#folder = fromRoot(`node_modules/.cache/idp-${name}-${process.pid}`)
    this.installed = join(this.#folder, 'node_modules/idp-client')
  }

  async install() {
    await unpack(await pack('packages/idp-client', this.#folder), this.installed)
  }

  /**
   * Compiles files as one program.
   *
   * @param {Record<string, string>} files texts by name
   * @param {Record<string, unknown>} [options] of the compiler
   * @returns {Promise<string>} what the compiler says
   */
  async compile(files, options = {}) {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(this.#folder, name), text)
    const compilerOptions = {
      target: 'ES2022',
      module: 'NodeNext',
      lib: ['ES2022', 'DOM', 'DOM.Iterable'],
      types: ['node'],
      strict: true,
      skipLibCheck: true,
      noEmit: true,
      ...options,
    }
    const [first] = Object.keys(files)
    const project = join(this.#folder, `${first}.json`)
    writeFileSync(project, JSON.stringify({ compilerOptions, files: Object.keys(files) }))
    const { output } = await runNode([bin.tsc, '-p', project, '--pretty', 'false'], { cwd: this.#folder })
    return output
  }

  remove() {
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
