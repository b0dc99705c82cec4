import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { all, chain, conclude, recover } from './chain.ts'

const failure = new Error('failure')

function thrown(work: () => unknown): unknown {
  try {
    work()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

describe('operations that are synchronous where nothing is asynchronous', () => {
  it('`chain` continues at once with a value, and later with a promise of any realm', async () => {
    expect(chain(1, (value) => value + 1)).toBe(2)
    await expect(chain(Promise.resolve(1), (value) => value + 1)).resolves.toBe(2)
    const foreign: Promise<number> = runInNewContext('Promise.resolve(1)')
    await expect(chain(foreign, (value) => value + 1)).resolves.toBe(2)
    expect(chain(null, (value) => value)).toBe(null)
  })

  it('`all` returns the values at once if none of them is a promise', async () => {
    expect(all([1, 2])).toEqual([1, 2])
    await expect(all([1, Promise.resolve(2)])).resolves.toEqual([1, 2])
  })

  it('`recover` handles a throw and a rejection, and nothing else', async () => {
    const fail = () => {
      throw failure
    }
    expect(recover(fail, (error) => [error])).toEqual([failure])
    await expect(
      recover<unknown>(
        async () => fail(),
        (error) => [error],
      ),
    ).resolves.toEqual([failure])
    expect(
      recover(
        () => 1,
        () => 2,
      ),
    ).toBe(1)
    await expect(
      recover(
        async () => 1,
        () => 2,
      ),
    ).resolves.toBe(1)
  })

  it('`conclude` calls the last function once in any case, and keeps result and error', async () => {
    const calls: string[] = []
    const last = (name: string) => () => {
      calls.push(name)
    }
    expect(conclude(() => 1, last('value'))).toBe(1)
    await expect(conclude(async () => 1, last('promise'))).resolves.toBe(1)
    const fail = () => {
      throw failure
    }
    expect(thrown(() => conclude(fail, last('throw')))).toBe(failure)
    await expect(conclude(async () => fail(), last('rejection'))).rejects.toBe(failure)
    expect(calls).toEqual(['value', 'promise', 'throw', 'rejection'])
    await expect(conclude(fail, async () => {})).rejects.toBe(failure)
    await expect(
      conclude(
        () => 1,
        async () => fail(),
      ),
    ).rejects.toBe(failure)
    expect(thrown(() => conclude(() => 1, fail))).toBe(failure)
  })
})
