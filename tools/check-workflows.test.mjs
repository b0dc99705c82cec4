import { expect, test } from 'vitest'
import { manifestProblems, workflowProblems } from './check-workflows.mjs'

const pinned = 'actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1'

test('an action without a commit, and a workflow without permissions, are named', () => {
  expect(workflowProblems('test.yml', `permissions: {}\n      - uses: ${pinned}\n`)).toEqual([])
  expect(workflowProblems('test.yml', '      - uses: actions/checkout@v7\n')).toEqual([
    expect.stringContaining('actions/checkout@v7'),
    expect.stringContaining('permissions'),
  ])
})

test('a manifest that names another repository is named', () => {
  const root = { author: 'A', homepage: 'h', bugs: 'b', repository: { type: 'git', url: 'u' } }
  const manifest = { ...root, repository: { ...root.repository, directory: 'packages/x' } }
  expect(manifestProblems(root, manifest, 'packages/x')).toEqual([])
  expect(manifestProblems(root, { ...manifest, bugs: 'c' }, 'packages/x')).toHaveLength(1)
})
