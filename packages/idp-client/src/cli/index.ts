#!/usr/bin/env node
import { run } from './run.ts'

const { code, exits, stdout, stderr } = await run(process.argv.slice(2))
process.stdout.write(stdout)
process.stderr.write(stderr)
process.exitCode = code
// Once everything is written: a pipe takes its time.
if (exits) process.stderr.write('', () => process.stdout.write('', () => process.exit()))
