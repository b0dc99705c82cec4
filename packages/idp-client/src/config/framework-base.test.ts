import { expect, test } from 'vitest'
import type { LogEvent } from '../log/log.ts'
import { createLog } from '../log/log.ts'
import { reportFrameworkBase } from './framework-base.ts'

function report(base: string | undefined, basePath = ''): readonly LogEvent[] {
  const events: LogEvent[] = []
  const log = createLog((event) => events.push(event))
  reportFrameworkBase({ basePath, log }, base)
  reportFrameworkBase({ basePath, log }, base)
  return events
}

test.each([
  ['/store', ''],
  ['/shop-of-books/', ''],
  ['/new', '/old'],
])(
  'reports the base %j of a framework once, with the variable to set, for the base path %j',
  (base, basePath) => {
    const [event, ...others] = report(base, basePath)
    expect(others).toEqual([])
    expect(event).toMatchObject({ code: 'NOTICE', remedy: 'BASE_PATH_MISSING' })
    expect(JSON.stringify(event)).toContain(`Set FRAMEWORK_PUBLIC_BASE_PATH=${base.replace(/\/$/, '')}, `)
  },
)

test.each([
  ['/shop', '/shop'],
  ['/shop/', '/shop'],
  ['/', ''],
  ['', ''],
  ['', '/shop'],
  ['./', ''],
  [undefined, ''],
])('reports nothing for the base %j and the base path %j', (base, basePath) => {
  expect(report(base, basePath)).toEqual([])
})
