import { AsyncLocalStorage } from 'node:async_hooks'
import { afterEach, describe, expect, it, vi } from 'vitest'
import * as node from './async-context.node.ts'
import type { AsyncContext } from './async-context.ts'
import * as web from './async-context.web.ts'

async function follows(context: AsyncContext<string>): Promise<(string | undefined)[]> {
  const seen = async (): Promise<string | undefined> => {
    await new Promise((resolve) => setImmediate(resolve))
    return context.getStore()
  }
  return Promise.all([context.run('alice', seen), context.run('bob', seen), seen()])
}

describe('async context', () => {
  afterEach(() => vi.unstubAllGlobals())

  it('follows each chain of calls on Node.js', async () => {
    expect(await follows(node.createAsyncContext())).toEqual(['alice', 'bob', undefined])
  })

  it('follows each chain of calls if the runtime has the class as a global', async () => {
    vi.stubGlobal('AsyncLocalStorage', AsyncLocalStorage)
    expect(await follows(web.createAsyncContext())).toEqual(['alice', 'bob', undefined])
  })

  it('[F10] follows each chain of calls if the runtime only has it among its built-in modules', async () => {
    vi.stubGlobal('AsyncLocalStorage', undefined)
    expect(await follows(web.createAsyncContext())).toEqual(['alice', 'bob', undefined])
  })

  it('runs the function without a context if the runtime has none', async () => {
    vi.stubGlobal('AsyncLocalStorage', undefined)
    vi.stubGlobal('process', { getBuiltinModule: () => undefined })
    const context = web.createAsyncContext<string>()
    expect(await follows(context)).toEqual([undefined, undefined, undefined])
    expect(context.run('alice', () => 7)).toBe(7)
  })
})
