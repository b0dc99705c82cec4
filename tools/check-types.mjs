// node tools/check-types.mjs <project>: one TypeScript project, without output.
import { existsSync } from 'node:fs'
import { bin, fromRoot, runNode } from './lib/run.mjs'
import { projects } from './rules/projects.mjs'

const name = process.argv[2] ?? ''
const project = projects[name]
if (project === undefined)
  throw new Error(`check-types: no project ${name}; known: ${Object.keys(projects).join(', ')}`)

// Next writes its own declarations (images, styles, typed routes), which are not in the repository.
if (project.nextApp && !existsSync(fromRoot(`${project.nextApp}/next-env.d.ts`))) {
  const typegen = await runNode([bin.next, 'typegen', fromRoot(project.nextApp)], {
    env: { NEXT_TELEMETRY_DISABLED: '1' },
  })
  if (typegen.code !== 0) console.log(typegen.output)
}
// The compiler reads from it which files have not changed since the last run.
const record = ['--incremental', '--tsBuildInfoFile', fromRoot(`.cache/types/${name}.tsbuildinfo`)]
const options = ['--noEmit', '--pretty', 'false', ...record]
const { code, output } = await runNode([bin.tsc, '-p', project.config, ...options])
process.stdout.write(output || `${project.config}\n`)
process.exitCode = code
