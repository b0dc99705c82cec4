import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'
import { isObject } from '../../lib/objects.ts'
import { version } from '../../lib/version.ts'
import type { Application } from './application.ts'
import { readApplication, readText } from './application.ts'
import type { InitArguments } from './arguments.ts'
import { parseInitArguments } from './arguments.ts'
import { assertApplication, detectHost } from './detect-host.ts'
import { toDiff } from './diff.ts'
import { findMissing } from './env-file.ts'
import type { Git } from './git.ts'
import { readGit } from './git.ts'
import type { Guide, GuideFile, InitData, ProviderPage } from './guides.ts'
import { loadInitData, toPageUrl } from './guides.ts'
import { InitError } from './init-error.ts'
import { fitToNext, toNextGuide } from './next.ts'
import { fitToNuxt } from './nuxt.ts'
import type { PackageManager } from './package-manager.ts'
import { findPackageManager, toScript } from './package-manager.ts'
import type { PartialPlan, Plan } from './plan.ts'
import { joinPlans, planDependencies, planFiles, planIgnore, planManifest, planVariables } from './plan.ts'
import { findMovedSources } from './source-folder.ts'
import { writeChanges } from './write-changes.ts'

interface Setup {
  readonly application: Application
  readonly guide: Guide
  readonly provider: ProviderPage | undefined
  readonly manager: PackageManager
  readonly git: Git
  readonly from: string | undefined
}

/** Where `init` runs, and how it asks; without `confirm` it cannot. */
export interface InitContext {
  readonly folder: string
  readonly confirm?: (question: string) => Promise<boolean>
}

const SCRIPT_NAME = 'dev:idp'

/** Fits the files of a guide to where the application has its sources. */
async function fitFiles(
  host: string,
  files: readonly GuideFile[],
  application: Application,
): Promise<readonly GuideFile[]> {
  if (host === 'nuxt') return fitToNuxt(files, application)
  return host.startsWith('next') ? fitToNext(files, application) : files
}

async function selectGuide(
  { guides }: InitData,
  { host }: InitArguments,
  application: Application,
): Promise<Guide> {
  const detected = host ?? detectHost(guides, application)
  const name = detected === 'next' ? await toNextGuide(application) : detected
  const guide = guides[name]
  if (guide === undefined) throw new InitError(`There is no guide of ${name}.`)
  assertApplication(guide, application)
  return { ...guide, files: await fitFiles(name, guide.files, application) }
}

/** The packed file of a package in a folder, as a range of `package.json`. */
async function findTarball(folder: string, from: string, name: string): Promise<string> {
  const source = resolve(folder, from)
  const pattern = new RegExp(`^${name}-\\d[^/]*\\.tgz$`)
  const found = (await readdir(source).catch(() => [])).filter((file) => pattern.test(file))
  const [file] = found
  if (file === undefined || found.length > 1)
    throw new InitError(
      `--from ${from}: the folder has ${found.length} files ${name}-*.tgz, one is needed.`,
      2,
    )
  return `file:${relative(folder, resolve(source, file)).split(sep).join('/')}`
}

const toRange = ({ folder }: Application, from: string | undefined, name: string): Promise<string> =>
  from === undefined ? Promise.resolve(`^${version}`) : findTarball(folder, from, name)

/** The variables that the development provider writes; a value of the user is not replaced. */
const devVariables = ['IDP_DOMAIN', 'IDP_CLIENT_ID', 'IDP_CLIENT_SECRET', 'IDP_SECRET', 'APP_BASE_URL'].map(
  (name) => ({ name, value: '' }),
)

interface DevProviderPlan extends PartialPlan {
  readonly scripts: Readonly<Record<string, string>>
}

/**
 * Plans the script that starts the development provider beside the application. It writes the environment file only if that
 * has no value of the user and git ignores it; the application gets the variables in its environment in any case.
 */
async function planDevProvider({ application, guide, manager, git }: Setup): Promise<DevProviderPlan> {
  const { app, envFile } = guide
  const script = (write: string): Readonly<Record<string, string>> => ({
    [SCRIPT_NAME]: `idp-dev-provider --app ${app}${write} -- ${toScript(guide.development, manager)}`,
  })
  const existing = findScript(application)
  if (existing !== undefined) {
    const isOwn = String(existing).startsWith('idp-dev-provider ')
    const notes = isOwn ? [] : [`The script ${SCRIPT_NAME} exists already, with another command, and stays.`]
    return { scripts: {}, notes }
  }
  const text = (await readText(application.folder, envFile)) ?? ''
  const isFree = findMissing(text, devVariables).length === devVariables.length
  const { isSafe, changes } = await planIgnore(application, envFile, git)
  if (isFree && isSafe) return { scripts: script(` --write ${envFile}`), changes }
  const note = `${envFile} stays as it is: ${SCRIPT_NAME} passes the variables of the development provider in the environment.`
  return { scripts: script(''), notes: [note] }
}

function findScript({ manifest }: Application): unknown {
  const scripts = manifest?.content['scripts']
  return isObject(scripts) ? scripts[SCRIPT_NAME] : undefined
}

function toVariables({ app }: Guide, { domain }: ProviderPage) {
  return [
    { name: 'IDP_DOMAIN', value: '', comment: domain },
    { name: 'IDP_CLIENT_ID', value: '' },
    { name: 'IDP_CLIENT_SECRET', value: '' },
    { name: 'IDP_SECRET', value: randomBytes(32).toString('hex') },
    { name: 'APP_BASE_URL', value: app },
  ]
}

async function createPlan(setup: Setup): Promise<Plan> {
  const { application, guide, provider, git, from } = setup
  const range = (name: string): Promise<string> => toRange(application, from, name)
  const dev = provider ? undefined : await planDevProvider(setup)
  const further = planDependencies(application, guide)
  const manifest = planManifest(application, {
    dependencies: { 'idp-client': await range('idp-client'), ...further.dependencies },
    devDependencies: dev ? { 'idp-dev-provider': await range('idp-dev-provider') } : {},
    scripts: dev?.scripts ?? {},
  })
  return joinPlans([
    { changes: manifest, notes: await findMovedSources(application, guide) },
    further,
    await planFiles(application.folder, guide.files),
    dev ?? {},
    provider ? await planVariables(application, guide, toVariables(guide, provider), git) : {},
  ])
}

/** The file gets the secret; a terminal or the log of a build does not. */
const withoutSecret = (diff: string): string => diff.replaceAll(/^(\+ IDP_SECRET=).+$/gm, '$1…')

const list = (title: string, lines: readonly string[]): string =>
  lines.length === 0 ? '' : `${title}\n${lines.map((line) => `  ${line}\n`).join('')}\n`

/** The command that starts everything, after what has to be installed and filled in. */
function toNextSteps({ application, guide, provider, manager }: Setup, plan: Plan): string {
  const packages = ['idp-client', ...(provider ? [] : ['idp-dev-provider'])]
  const isInstalled =
    !plan.changes.some(({ path }) => path === 'package.json') &&
    packages.every((name) => existsSync(join(application.folder, 'node_modules', name, 'package.json')))
  const start = provider ? guide.development : `${manager} run ${SCRIPT_NAME}`
  const command = isInstalled ? start : `${manager} install && ${start}`
  if (!provider)
    return `Start the provider and the application, and log in as alice at ${guide.app}:\n\n  ${command}\n`
  return [
    `Register ${guide.app}/auth/callback as redirect URI and ${guide.app} as post-logout redirect URI, and fill in`,
    `${guide.envFile}. ${provider.title} has settings of its own: ${toPageUrl(provider.page)}`,
    'Then start the application:',
    '',
    `  ${command}`,
    '',
  ].join('\n')
}

function assertClean({ kind, changes }: Git, force: boolean): void {
  if (kind !== 'repository' || changes.length === 0 || force) return
  const files = changes.slice(0, 5).map((line) => line.slice(3))
  throw new InitError(
    `This folder has changes that are not committed: ${files.join(', ')}${changes.length > 5 ? ', …' : ''}. ` +
      'Commit them, so that git can undo what init writes, or say --force.',
  )
}

const gitNotes: Readonly<Record<Git['kind'], readonly string[]>> = {
  none: ['This folder is not in a git repository: what init changes cannot be undone by git.'],
  unborn: ['The git repository has no commit yet: what init changes cannot be undone by git.'],
  repository: [],
}

interface Written {
  readonly code: 0 | 1
  readonly text: string
}

async function carryOut(
  setup: Setup,
  plan: Plan,
  args: InitArguments,
  context: InitContext,
): Promise<Written> {
  const { application, guide, git } = setup
  const byHand = list('To do by hand:', plan.byHand) + list('Notes:', plan.notes)
  const steps = toNextSteps(setup, plan)
  if (plan.changes.length === 0) return { code: 0, text: `Nothing to change.\n\n${byHand}${steps}` }
  const head = `${guide.title}: ${toPageUrl(guide.page)}\n\n${plan.changes.map(toDiff).map(withoutSecret).join('\n')}\n`
  if (args.dryRun) return { code: 0, text: `${head}${byHand}Nothing was written (--dry-run).\n` }
  assertClean(git, args.force)
  const count = `${plan.changes.length} ${plan.changes.length === 1 ? 'file' : 'files'}`
  if (!args.yes) {
    if (!context.confirm)
      return { code: 1, text: `${head}${byHand}Nothing was written. Say --yes to write ${count}.\n` }
    const isConfirmed = await context.confirm(`${head}${byHand}Write ${count}? [y/N] `)
    if (!isConfirmed) return { code: 1, text: 'Nothing was written.\n' }
  }
  await writeChanges(application.folder, plan.changes)
  const written = plan.changes.map(({ path, before }) => `${path}${before === null ? ' (new)' : ''}`)
  return { code: 0, text: list('Wrote:', written) + byHand + list('Notes:', gitNotes[git.kind]) + steps }
}

/**
 * Adds the application that the guide of its host prints to the folder: plans everything, shows it, and writes all or nothing.
 * Needs no network.
 *
 * @throws InitError if the arguments are wrong, or the folder is not one that it can change
 */
export async function init(parameters: readonly string[], context: InitContext): Promise<Written> {
  const data = await loadInitData()
  const args = parseInitArguments(parameters, data)
  const application = await readApplication(context.folder)
  const guide = await selectGuide(data, args, application)
  const setup = {
    application,
    guide,
    provider: data.providers[args.provider],
    manager: await findPackageManager(application),
    git: await readGit(context.folder),
    from: args.from,
  }
  return carryOut(setup, await createPlan(setup), args, context)
}
