import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { fingerprint, readLastPass, writeLastPass } from './lib/last-pass.mjs'
import { fromRoot } from './lib/run.mjs'

const folder = `.cache/last-pass-${process.pid}`
const part = `test-${process.pid}`

function write(path, text) {
  mkdirSync(fromRoot(folder), { recursive: true })
  writeFileSync(fromRoot(`${folder}/${path}`), text)
}

afterEach(() => {
  for (const path of [folder, `.cache/passed/${part}.json`])
    rmSync(fromRoot(path), { recursive: true, force: true })
})

test('[Q2] a part is unchanged only while its files have the paths and texts of its last pass', () => {
  write('page.ts', 'one')
  const before = fingerprint([folder])
  expect(readLastPass(part, before)).toBeUndefined()
  writeLastPass(part, { fingerprint: before, passed: 3 })
  expect(readLastPass(part, before)).toMatchObject({ passed: 3 })

  write('next-env.d.ts', 'written by Next.js')
  expect(fingerprint([folder])).toBe(before)
  write('page.ts', 'two')
  expect(readLastPass(part, fingerprint([folder]))).toBeUndefined()
  write('page.ts', 'one')
  write('another.ts', 'one')
  expect(readLastPass(part, fingerprint([folder]))).toBeUndefined()
})
