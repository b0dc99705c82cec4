import { rmSync } from 'node:fs'
import { filesBelow, readText } from './files.mjs'
import { fromRoot } from './run.mjs'

/** The published packages. They have one version, so a changeset of one is one of all. */
const packages = ['idp-client', 'idp-dev-provider', 'create-idp-app']
const steps = ['patch', 'minor', 'major']

/**
 * Returns the step that a changeset asks for: `patch`, `minor` or `major`.
 *
 * @param {string} path for messages
 * @param {string} text front matter with the step of each package, for example `'idp-client': minor`
 */
export function parseStep(path, text) {
  const lines = /^---\n([\s\S]*?)\n---\n/.exec(text)?.[1].split('\n')
  if (!lines)
    throw new Error(`${path}: begin with a line of three hyphens, 'idp-client': patch, and three hyphens`)
  return largest(
    lines.map((line) => {
      const [, name, step] = /^['"]?([\w-]+)['"]?: (\w+)$/.exec(line) ?? []
      if (!packages.includes(name)) throw new Error(`${path}: each line names one of ${packages.join(', ')}`)
      if (!steps.includes(step)) throw new Error(`${path}: the step of ${name} is one of ${steps.join(', ')}`)
      return step
    }),
  )
}

/** The largest of some steps; undefined without any. */
export const largest = (some) => steps.findLast((step) => some.includes(step))

const list = () => filesBelow('.changeset', (path) => path.endsWith('.md') && !path.endsWith('/README.md'))

/** The steps of all changesets. */
export const readSteps = () => list().map((path) => parseStep(path, readText(path)))

export function removeChangesets() {
  for (const path of list()) rmSync(fromRoot(path))
}
