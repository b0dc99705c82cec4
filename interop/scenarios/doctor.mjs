import { equal, ok } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { fromRoot } from '../../tools/lib/run.mjs'

const command = fromRoot('packages/idp-client/dist/cli.js')

/** Runs the doctor of the built library with the variables of an application; returns its exit code and its output. */
async function runDoctor(app, changes = {}) {
  const args = [command, 'doctor', '--app', app.url]
  const child = spawn(process.execPath, args, {
    cwd: fromRoot('interop/scenarios'),
    env: { ...process.env, ...app.variables, ...changes },
  })
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise((resolve) => child.once('exit', resolve)),
  ])
  return { code, output: stdout + stderr, codes: stdout.match(/^[A-Z_]+$/gm) ?? [] }
}

export const doctor = [
  {
    title: 'doctor: a healthy set-up, nothing is printed',
    async run(context) {
      const { code, output } = await runDoctor(await context.application())
      equal(output, '')
      equal(code, 0)
    },
  },
  {
    title: 'doctor: a wrong client secret',
    async run(context) {
      const changes = { IDP_CLIENT_SECRET: `another-${randomUUID()}` }
      const { code, codes, output } = await runDoctor(await context.application(), changes)
      equal(codes.join(), 'CLIENT_REFUSED', output)
      equal(code, 1)
    },
  },
  {
    title: 'doctor: a redirect URI that is not registered',
    async run(context) {
      const app = await context.application({ client: { apps: ['http://localhost:1'] } })
      const { code, codes, output } = await runDoctor(app)
      ok(codes.includes('REDIRECT_URI_REFUSED'), output)
      equal(code, 1)
    },
  },
]
