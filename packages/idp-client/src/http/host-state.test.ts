import { expect, test } from 'vitest'
import type { RequestView } from './exchange.ts'
import { cookieLines, requestState } from './host-state.ts'

const createView = () => ({ headers: new Headers(), method: 'GET', url: null }) as unknown as RequestView

test('[D1] the state of a host object is created once, and is seen neither on it nor through another object', () => {
  for (const hostRequest of [
    new Request('https://app.example.com'),
    {},
    Object.freeze({}),
    Object.create(null),
  ]) {
    const before = Reflect.ownKeys(hostRequest)
    const state = requestState(hostRequest, createView)
    expect(requestState(hostRequest, createView)).toBe(state)
    expect(Reflect.ownKeys(hostRequest)).toEqual(before)
    for (const other of [Object.create(hostRequest), new Proxy(hostRequest, {}), { ...hostRequest }])
      expect(requestState(other, createView)).not.toBe(state)
  }
})

test('[D1] an object that is request and response has both states', () => {
  const hostObject = {}
  const state = requestState(hostObject, createView)
  const lines = cookieLines(hostObject, () => new Map())
  expect(requestState(hostObject, createView)).toBe(state)
  expect(cookieLines(hostObject, () => new Map())).toBe(lines)
})
