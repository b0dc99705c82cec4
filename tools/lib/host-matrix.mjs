import { filesBelow, readText } from './files.mjs'
import { hosts } from './hosts.mjs'

const introduction = `# Hosts

<!-- Written by npm run test:hosts -- --write. Do not edit. -->

Every row is a run of the adapter contract on an application of the framework in production, and of its
[example](../../examples) in Chromium. "Direct" and "Behind TLS" are passed cases of the contract, the latter behind a proxy that
ends TLS. "Unconfigured" are the cases for a client without options: every guard denies. "Browser" is a user of the example who
logs in, follows links, goes back and logs out. "Adapter" is the number of code lines of its folder,
without the two bases that hosts share.
`

/** Returns the number of lines of a module without comments and empty lines. */
export function countCodeLines(text) {
  const withoutBlocks = text.replaceAll(/^\s*\/\*[\s\S]*?\*\/\s*$/gm, '')
  return withoutBlocks.split('\n').filter((line) => line.trim() !== '' && !/^\s*\/\//.test(line)).length
}

/** Folders whose other modules are the base of several hosts. */
const bases = new Set(['node', 'web'])

function adapterLines({ entry, folder = entry.split('/')[1] ?? 'web' }) {
  const own = filesBelow(`packages/idp-client/src/adapters/${folder}`, (path) =>
    bases.has(folder) ? /\/(?:client|index)\.ts$/.test(path) : /(?<!\.test)\.ts$/.test(path),
  )
  return own.reduce((sum, path) => sum + countCodeLines(readText(path)), 0)
}

const row = (cells) => `| ${cells.join(' | ')} |`

/**
 * Returns the page of the matrix.
 *
 * @param {Record<string, { direct: string, proxy: string, unconfigured: string, browser: string,
 *   versions: Record<string, string> }>} results by host
 */
export function toMatrix(results) {
  const rows = Object.entries(results).map(([name, result]) => {
    const { build, entry, guide = name, title } = hosts[name]
    const versions = Object.entries(result.versions).map(([each, version]) => `${each} ${version}`)
    return row([
      `[${title}](../guides/hosts/${guide}.md)`,
      `\`${entry}\``,
      versions.join(', ') || `Node.js ${process.versions.node.split('.')[0]}`,
      build ? 'built' : 'none needed',
      result.direct,
      result.proxy,
      result.unconfigured,
      result.browser,
      adapterLines(hosts[name]),
    ])
  })
  const head = [
    'Host',
    'Entry',
    'Versions',
    'Build',
    'Direct',
    'Behind TLS',
    'Unconfigured',
    'Browser',
    'Adapter',
  ]
  return [introduction, row(head), row(head.map(() => '---')), ...rows, ''].join('\n')
}
