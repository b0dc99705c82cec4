import { expect, test } from 'vitest'
import { requestCookies } from './exchange.ts'
import type { RequestState } from './host-state.ts'
import { cookieLines, requestState } from './host-state.ts'

function createState(): RequestState {
  const request = { headers: new Headers(), method: 'GET', url: null } as unknown as RequestState['request']
  return { request, ...requestCookies(new Map()) }
}

test('[D1] the state of a host object is created once, and is seen neither on it nor through another object', () => {
  for (const hostRequest of [
    new Request('https://app.example.com'),
    {},
    Object.freeze({}),
    Object.create(null),
  ]) {
    const before = Reflect.ownKeys(hostRequest)
    const state = requestState(hostRequest, createState)
    expect(requestState(hostRequest, createState)).toBe(state)
    expect(Reflect.ownKeys(hostRequest)).toEqual(before)
    for (const other of [Object.create(hostRequest), new Proxy(hostRequest, {}), { ...hostRequest }])
      expect(requestState(other, createState)).not.toBe(state)
  }
})

test('[D1] an object that is request and response has both states', () => {
  const hostObject = {}
  const state = requestState(hostObject, createState)
  const lines = cookieLines(hostObject, () => new Map())
  expect(requestState(hostObject, createState)).toBe(state)
  expect(cookieLines(hostObject, () => new Map())).toBe(lines)
})
