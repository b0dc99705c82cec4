// node doctor.mjs <schema>: the reports of the packed doctor, of a healthy set-up and of mistakes, are those of the schema.
import { equal, ok } from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Validator } from '@cfworker/json-schema'

const validator = new Validator(JSON.parse(readFileSync(process.argv[2], 'utf8')), '2020-12')

function examine(variables) {
  const args = ['node_modules/idp-client/dist/cli.js', 'doctor', '--json']
  const { status, stdout } = spawnSync(process.execPath, args, { env: { ...process.env, ...variables } })
  const report = JSON.parse(stdout.toString())
  equal(status, report.healthy ? 0 : 1)
  equal(validator.validate(report).valid, true, stdout.toString())
  return report
}

equal(examine({}).healthy, true)
for (const [variables, code] of [
  [{ IDP_CLIENT_SECRET: 'wrong' }, 'CLIENT_REFUSED'],
  [{ IDP_SECRET: 'short' }, 'INVALID_CONFIGURATION'],
]) {
  const report = examine(variables)
  const [finding] = report.findings
  equal(finding.code, code)
  for (const other of [{ ...report, more: 1 }, { ...report, findings: [{ ...finding, secret: 'x' }] }, {}])
    ok(!validator.validate(other).valid, 'the schema refuses another report')
}
