// Workflows run other people's code beside a token of this repository, so every action is pinned to a commit, and the job
// that can publish runs nothing else, nor does one that can deploy.
import { readdirSync, readFileSync } from 'node:fs'
import { finish } from './lib/gate.mjs'
import { fromRoot, isMain, run } from './lib/run.mjs'

const folder = '.github/workflows'
const actionlint = 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.12'

const pinned = /^(?:[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+|\.\/\.github\/workflows\/[\w-]+\.yml)$/

/** The texts of the jobs of a workflow by name. */
function toJobs(text) {
  const [, jobs = ''] = text.split(/^jobs:\n/m)
  const parts = jobs.split(/^ {2}([\w-]+):\n/m).slice(1)
  return new Map(parts.flatMap((name, index) => (index % 2 === 0 ? [[name, parts[index + 1]]] : [])))
}

/** The jobs that a job waits for, and those that they wait for. */
function toNeeds(jobs, name) {
  const needed = /^ {4}needs: ([\w-]+)$/m.exec(jobs.get(name) ?? '')?.[1]
  return needed === undefined ? [] : [needed, ...toNeeds(jobs, needed)]
}

const unless = (isFulfilled, problem) => (isFulfilled ? [] : [problem])

/** Problems of a job that may request a token of npm: everything that runs in it could publish. */
function publishingProblems(jobs, name) {
  const job = jobs.get(name)
  const commands = [...job.matchAll(/\bnpm \S.*$/gm)].map(([command]) => command)
  const isPublication = (command) =>
    ['npm publish ', ' --provenance', ' --ignore-scripts'].every((part) => command.includes(part))
  return [
    ...unless(toNeeds(jobs, name).includes('test'), 'does not wait for the job test'),
    ...unless(/sha256sum --check --strict/.test(job), 'does not compare checksums'),
    ...unless(!/uses: actions\/checkout@/.test(job), 'has a checkout'),
    ...unless(!/\b(?:npx|node|bash|sh|curl|wget) /.test(job), 'runs another program than npm publish'),
    ...commands
      .filter((command) => !isPublication(command))
      .map((command) => `runs ${command}, only npm publish with --provenance --ignore-scripts is allowed`),
  ].map((problem) => `the job ${name}, which can publish, ${problem}`)
}

/** Problems of a job that may deploy to Pages: the token is for its one action. */
function deployingProblems(jobs, name) {
  const job = jobs.get(name)
  const uses = [...job.matchAll(/uses: (\S+)@/g)].map(([, action]) => action)
  return [
    ...unless(toNeeds(jobs, name).includes('test'), 'does not wait for the job test'),
    ...unless(/^ {4}environment: github-pages$/m.test(job), 'is not limited to the environment github-pages'),
    ...unless(
      uses.join() === 'actions/deploy-pages' && !/\brun: /.test(job),
      'runs something beside actions/deploy-pages',
    ),
  ].map((problem) => `the job ${name}, which can deploy, ${problem}`)
}

/**
 * Problems of one workflow, as text: actions that are not pinned, permissions that are not stated, packages that the lock
 * does not pin, and what a job that can publish must not do.
 */
export function workflowProblems(name, text) {
  const uses = [...text.matchAll(/^\s*(?:- )?uses: (.+)$/gm)].map(([, value]) => value)
  const jobs = toJobs(text.replace(/^\s*#.*\n/gm, ''))
  const withToken = [...jobs.keys()].filter((job) => /^ {6}id-token: write$/m.test(jobs.get(job)))
  const mayDeploy = (job) => /^ {6}pages: write$/m.test(jobs.get(job))
  return [
    ...uses
      .filter((value) => !pinned.test(value))
      .map((value) => `pin ${value} to a commit, with its version as comment`),
    ...unless(/^permissions:/m.test(text), 'state the permissions of the workflow, at best none'),
    ...unless(!/^ {2}id-token: write$/m.test(text), 'give a token of npm to one job only'),
    ...unless(
      !/\bnpx |\bnpm (?:i|install|add|exec|x) /.test(text),
      'install packages of the lock only: npm ci',
    ),
    ...withToken.flatMap((job) => (mayDeploy(job) ? deployingProblems : publishingProblems)(jobs, job)),
  ].map((problem) => `${name}: ${problem}`)
}

/** Problems that actionlint finds, or `null` where it cannot be had: no Go, or no network to load it from. */
async function lint() {
  const { code, output } = await run('go', ['run', actionlint, '-shellcheck=']).catch(() => ({ code: null }))
  if (code === 0) return []
  const lines = output?.split('\n').filter((line) => line.startsWith(folder)) ?? []
  return lines.length === 0 ? null : lines
}

if (isMain(import.meta)) {
  const names = readdirSync(fromRoot(folder))
  const problems = names.flatMap((name) =>
    workflowProblems(name, readFileSync(fromRoot(`${folder}/${name}`), 'utf8')),
  )
  const linted = await lint()
  if (linted === null)
    console.log('note: actionlint did not check the workflows: it needs Go, and the network to load it')
  finish([...problems, ...(linted ?? [])], `${names.length} workflows`)
}
