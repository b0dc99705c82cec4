import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { contentProblems } from './lib/package-content.mjs'

const files = {
  'CHANGELOG.md': '# Changelog\n',
  LICENSE: 'MIT\n',
  'README.md': '# A\n',
  'dist/index.d.ts': '/** Returns 1. */\ndeclare const a: 1;\n',
  'dist/index.js': '#!/usr/bin/env node\nconst a = /* @__PURE__ */ new Map();\n',
  'package.json': '{}\n',
}

let folder
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'idp-content-'))
  write(files)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function write(texts) {
  for (const [path, text] of Object.entries(texts)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}

test('[P2] code has annotations only, declarations may have comments', () => {
  expect(contentProblems(folder, 1000)).toEqual([])
  write({ 'dist/a.js': 'const url = "https://example.com";\n// src/a.ts\n' })
  expect(contentProblems(folder, 1000)).toEqual(['dist/a.js has a comment: src/a.ts'])
})

test('[P2] source maps, and what refers to one, are named', () => {
  write({ 'dist/a.js': 'export {};\n//# sourceMappingURL=a.js.map\n', 'dist/a.js.map': '{}' })
  expect(contentProblems(folder, 1000)).toEqual(
    expect.arrayContaining([
      'dist/a.js.map: source maps are not published',
      'dist/a.js refers to a source map',
    ]),
  )
})

test('[P2] a package with too many bytes, or without its licence, is named', () => {
  rmSync(join(folder, 'LICENSE'))
  expect(contentProblems(folder, 100)).toEqual([
    'LICENSE is missing',
    expect.stringMatching(/^\d+ bytes unpacked, at most 100 are allowed$/),
  ])
})
