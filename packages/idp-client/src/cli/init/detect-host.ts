import type { Application } from './application.ts'
import type { Guide, InitData } from './guides.ts'
import { InitError } from './init-error.ts'

type Guides = InitData['guides']

const hasFiles = (entries: readonly string[]): boolean => entries.some((entry) => !entry.startsWith('.'))

const NO_MANIFEST = 'This folder has no package.json: run init in the folder of the application.'

const byHand = (guides: Guides): string =>
  `Name it: --host <name>, one of: ${Object.keys(guides).join(', ')}.`

function isOf(guide: Guide, { manifest, entries }: Application): boolean {
  const isConfig = (entry: string): boolean =>
    guide.configs.some((name) => entry.startsWith(`${name}.`) && !entry.endsWith('.d.ts'))
  return guide.packages.some((name) => manifest?.dependencies.has(name)) || entries.some(isConfig)
}

/**
 * Returns the name of the host that an application is made with, by its dependencies and files.
 *
 * @throws InitError if there is none or more than one
 */
export function detectHost(guides: Guides, application: Application): string {
  if (application.manifest === undefined) throw new InitError(toMissing(guides, application))
  const found = Object.keys(guides).filter((name) => guides[name] && isOf(guides[name], application))
  const [name, ...others] = found
  if (name !== undefined && others.length === 0) return name
  const reason =
    name === undefined
      ? 'The framework of this application is not known.'
      : `This application has more than one framework: ${found.join(', ')}.`
  throw new InitError(`${reason} ${byHand(guides)}`)
}

function toMissing(guides: Guides, { entries }: Application): string {
  const plain = Object.keys(guides).filter((name) => guides[name]?.needsStarter === false)
  return hasFiles(entries)
    ? NO_MANIFEST
    : `This folder is empty. Name a host that needs no starter (--host ${plain.join(', ')}), or make an application: npm create idp-app.`
}

/**
 * The guide to follow in an application.
 *
 * @throws InitError if the guide continues an application of the official starter, and there is none
 */
export function assertApplication(guide: Guide, { manifest, entries }: Application): void {
  if (manifest !== undefined) return
  if (guide.needsStarter)
    throw new InitError(
      `${guide.title} needs an application of its starter, and this folder has no package.json: npm create idp-app makes one.`,
    )
  if (hasFiles(entries)) throw new InitError(NO_MANIFEST)
}
