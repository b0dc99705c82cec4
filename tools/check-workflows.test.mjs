import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { workflowProblems } from './check-workflows.mjs'
import { readJson } from './lib/files.mjs'
import { published } from './pack.mjs'

const pinned = 'actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1'

test('an action without a commit, and a workflow without permissions, are named', () => {
  expect(workflowProblems('test.yml', `permissions: {}\n      - uses: ${pinned}\n`)).toEqual([])
  expect(workflowProblems('test.yml', '      - uses: actions/checkout@v7\n')).toEqual([
    expect.stringContaining('actions/checkout@v7'),
    expect.stringContaining('permissions'),
  ])
})

describe('the release', () => {
  const release = readFileSync(new URL('../.github/workflows/release.yml', import.meta.url), 'utf8')

  test('[P1] waits for the tests, and its job with the token publishes checked files only', () => {
    expect(workflowProblems('release.yml', release)).toEqual([])
  })

  test.each([
    ['needs: test', 'needs: select', 'does not wait for the job test'],
    ['sha256sum --check --strict', 'cat', 'does not compare checksums'],
    [' --ignore-scripts || status=1', ' || status=1', 'only npm publish'],
    ['status=0', 'npm ci', 'only npm publish'],
    ['status=0', 'node tools/pack.mjs', 'another program'],
    ['uses: actions/download-artifact@', 'uses: actions/checkout@', 'has a checkout'],
  ])('[P1] %j must not become %j', (part, replacement, problem) => {
    expect(release).toContain(part)
    expect(workflowProblems('release.yml', release.replaceAll(part, replacement))).toContainEqual(
      expect.stringContaining(problem),
    )
  })

  test('[P1] no workflow installs packages that the lock does not pin', () => {
    const text = `permissions: {}\njobs:\n  a:\n    steps:\n      - run: npm ci && npm install --no-save x@1.0.0\n`
    expect(workflowProblems('a.yml', text)).toEqual(['a.yml: install packages of the lock only: npm ci'])
  })
})

describe('the deployment of the docs', () => {
  const docs = readFileSync(new URL('../.github/workflows/docs.yml', import.meta.url), 'utf8')

  test('waits for the test, and runs nothing but its action', () => {
    expect(workflowProblems('docs.yml', docs)).toEqual([])
  })

  test.each([
    ['    needs: test', '    needs: build', 'does not wait for the job test'],
    ['environment: github-pages', 'environment: npm', 'is not limited'],
    [
      '      - uses: actions/deploy-pages',
      '      - run: npm publish\n      - uses: actions/deploy-pages',
      'runs something',
    ],
    ['actions/deploy-pages', 'actions/checkout', 'runs something'],
  ])('%j must not become %j', (part, replacement, problem) => {
    expect(docs).toContain(part)
    expect(workflowProblems('docs.yml', docs.replaceAll(part, replacement))).toContainEqual(
      expect.stringContaining(problem),
    )
  })
})

test.each(published)('%s names the repository', (directory) => {
  const { author, bugs, homepage, repository } = readJson('package.json')
  expect(readJson(`${directory}/package.json`)).toMatchObject({
    author,
    bugs,
    homepage,
    repository: { ...repository, directory },
  })
})
