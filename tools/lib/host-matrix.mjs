import { filesBelow, readText } from './files.mjs'
import { hosts } from './hosts.mjs'

const introduction = `# Hosts

<!-- Written by npm run test:hosts -- --write. Do not edit. -->

Every row is a run of the adapter contract on an application of the framework in production, and of its
[example](../../examples) in Chromium. "Direct" and "Behind TLS" are passed cases of the contract, the latter behind a proxy that
ends TLS. "Unconfigured" are the cases for a client without options: every guard denies. "Browser" is a user of the example who
logs in, follows links, goes back and logs out. "Adapter" is the number of code lines of the client and, behind the plus sign, of
what else only this entry has.
`

/** Returns the number of lines of a module without comments and empty lines. */
export function countCodeLines(text) {
  const withoutBlocks = text.replaceAll(/^\s*\/\*[\s\S]*?\*\/\s*$/gm, '')
  return withoutBlocks.split('\n').filter((line) => line.trim() !== '' && !/^\s*\/\//.test(line)).length
}

/** Manifests, and what installing, building and starting an example creates. */
const isProjectFile = (path) =>
  /\/(?:\.|build\/)|\.(?:gen\.ts|jsonc)$|\/(?:package(?:-lock)?|tsconfig)\.json$/.test(path)

/** Files that the starters of frameworks create: configurations, documents, entries, types of the application. */
const isStarterFile = (path) =>
  /\/(?:[\w-]+\.config\.\w+|app\.(?:d\.ts|html|tsx)|entry-(?:client|server)\.tsx|(?:__)?root\.tsx|router\.tsx)$/.test(
    path,
  )

/** Lines that a user adds to those files: they name the client or a file of it, or permit its middleware. */
const isAddedLine = (line) => /idp|v8_middleware/i.test(line)

/** Returns the number of code lines of a file of an example that a user writes. */
export const countUserLines = (path, text) =>
  isStarterFile(path) ? text.split('\n').filter(isAddedLine).length : countCodeLines(text)

/**
 * Returns the number of code lines that a user of a framework writes for its example: pages, routes, modules, and the lines that
 * are added to files of the framework's starter.
 *
 * @param {string} name of a folder in `examples`
 */
export const exampleLines = (name) =>
  filesBelow(`examples/${name}`, (path) => !isProjectFile(path)).reduce(
    (sum, path) => sum + countUserLines(path, readText(path)),
    0,
  )

/** Folders whose other modules are the base of several hosts. */
const bases = new Set(['node', 'web'])

/**
 * Returns the number of code lines of an adapter: of its client, and of its other files.
 *
 * @param {string} folder below `adapters`
 */
export function adapterLines(folder) {
  const own = filesBelow(`packages/idp-client/src/adapters/${folder}`, (path) =>
    bases.has(folder) ? /\/(?:client|index)\.ts$/.test(path) : /(?<!\.test)\.ts$/.test(path),
  )
  const [client, rest] = [true, false].map((isClient) =>
    own
      .filter((path) => path.endsWith('/client.ts') === isClient)
      .reduce((sum, path) => sum + countCodeLines(readText(path)), 0),
  )
  return { client, rest }
}

/** Returns the folder of the adapter of a host. */
export const adapterFolder = ({ entry }) => entry.split('/')[1] ?? 'web'

const toSize = (host) => {
  const { client, rest } = adapterLines(adapterFolder(host))
  return rest === 0 ? client : `${client} + ${rest}`
}

const otherVersions = `
## Other versions

The same contract applications on further versions of the frameworks: the types of the example, the tests of the adapter, and
the contract, direct.
`

const row = (cells) => `| ${cells.join(' | ')} |`

const table = (head, rows) => [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n')

/** Returns the title with a link, and the versions. */
const toHead = (name, versions) => ({
  title: `[${hosts[name].title}](../guides/hosts/${hosts[name].guide ?? name}.md)`,
  versions:
    Object.entries(versions)
      .map(([each, version]) => `${each} ${version}`)
      .join(', ') || `Node.js ${process.versions.node.split('.')[0]}`,
})

/**
 * Returns the page of the matrix.
 *
 * @param {Record<string, { direct: string, proxy?: string, unconfigured?: string, browser?: string,
 *   versions: Record<string, string> }>} results by host; those with `contractOnly` have only `direct` and `versions`
 */
export function toMatrix(results) {
  const entries = Object.entries(results).sort(([a], [b]) =>
    hosts[a].title.localeCompare(hosts[b].title, 'en'),
  )
  const complete = entries.filter(([name]) => !hosts[name].contractOnly)
  const others = entries.filter(([name]) => hosts[name].contractOnly)
  const rows = complete.map(([name, result]) => {
    const { title, versions } = toHead(name, result.versions)
    const { build, entry } = hosts[name]
    return [
      title,
      `\`${entry}\``,
      versions,
      build ? 'built' : 'none needed',
      result.direct,
      result.proxy,
      result.unconfigured,
      result.browser,
      toSize(hosts[name]),
    ]
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
  const otherRows = others.map(([name, result]) => {
    const { title, versions } = toHead(name, result.versions)
    return [title, versions, result.direct]
  })
  const page = [introduction, table(head, rows)]
  if (others.length > 0) page.push(otherVersions, table(['Host', 'Versions', 'Direct'], otherRows))
  return [...page, ''].join('\n')
}
