import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { outsideRequest, requestContext, requestScope } from './request-scope.ts'

const [first, second] = [requestContext<string>('first/1'), requestContext<number>('second/1')]
const seen = (): unknown[] => [first.getStore(), second.getStore()]
const inRequest = <T>(callback: () => T): T => first.run('alice', () => second.run(7, callback))

test('[D2] work that outlives a request runs outside the scope of the request', async () => {
  const later = inRequest(() =>
    outsideRequest(async () => {
      await turn()
      return seen()
    }),
  )
  expect(await later).toEqual([undefined, undefined])
  expect(inRequest(() => [outsideRequest(seen), seen()])).toEqual([
    [undefined, undefined],
    ['alice', 7],
  ])
})

test('[D2] code of the application gets the scope of its request back, until that is released', () => {
  const scope = inRequest(requestScope)
  expect(scope.run(seen)).toEqual(['alice', 7])
  expect(seen()).toEqual([undefined, undefined])
  scope.release()
  expect(scope.run(seen)).toEqual([undefined, undefined])
})
