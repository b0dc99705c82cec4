import { bin, fromRoot } from '../lib/run.mjs'
import { projects } from './projects.mjs'

const script = (name, ...args) => [fromRoot(`tools/${name}.mjs`), ...args]

/** Every gate is a Node program that prints what is wrong and exits non-zero. Slow ones come first. */
export const gates = [
  { name: 'package', args: script('check-package') },
  ...Object.keys(projects).map((name) => ({ name: `types:${name}`, args: script('check-types', name) })),
  { name: 'biome', args: [bin.biome, 'check', '--error-on-warnings', '--colors=off', '.'] },
  { name: 'docs', args: script('check-docs') },
  { name: 'entries', args: script('check-entries') },
  { name: 'layers', args: script('check-layers') },
  { name: 'workflows', args: script('check-workflows') },
  { name: 'words', args: script('check-words') },
  { name: 'links', args: script('check-links') },
  { name: 'reference', args: script('generate', '--check') },
]
