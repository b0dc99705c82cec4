import { afterEach, expect, test, vi } from 'vitest'
import { ALL_KEYS, KeyedMutex } from './shared-run.ts'

afterEach(() => vi.useRealTimers())

function gate(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {}
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

function gates(names: readonly string[]) {
  const order: string[] = []
  const open: Record<string, () => void> = {}
  const tasks = names.map((name) => {
    const { promise, resolve } = gate()
    open[name] = resolve
    return async (): Promise<string> => {
      order.push(`+${name}`)
      await promise
      order.push(`-${name}`)
      return name
    }
  })
  return { order, open: (name: string) => open[name]?.(), tasks }
}

/** Returns whether a task that runs alone has to wait for no other one. */
async function isFree(mutex: KeyedMutex<string>): Promise<boolean> {
  let isFree = false
  void mutex.run(
    ALL_KEYS,
    async () => {
      isFree = true
    },
    LONG,
  )
  for (let turns = 0; turns < 20; turns++) await null
  return isFree
}

/** Milliseconds that no test waits. */
const LONG = 60_000

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('tasks of one key run in order, those of another key at the same time', async () => {
  const mutex = new KeyedMutex<string>()
  const { open, order, tasks } = gates(['a1', 'a2', 'b', 'a3'])
  const results = tasks.map((task, index) => mutex.run(index === 2 ? 'b' : 'a', task, LONG))
  await turn()
  expect(order).toEqual(['+a1', '+b'])
  for (const name of ['a3', 'a2', 'a1', 'b']) open(name)
  expect(await Promise.all(results)).toEqual(['a1', 'a2', 'b', 'a3'])
  expect(order.filter((one) => one.includes('a'))).toEqual(['+a1', '-a1', '+a2', '-a2', '+a3', '-a3'])
})

test('a task that fails does not stop the next one', async () => {
  const mutex = new KeyedMutex<object>()
  const key = {}
  const failing = mutex.run(key, () => Promise.reject(new Error('no')), LONG)
  const next = mutex.run(key, async () => 'next', LONG)
  await expect(failing).rejects.toThrow('no')
  expect(await next).toBe('next')
})

test('a task whose patience is over runs beside one that does not end, and later tasks wait for it', async () => {
  vi.useFakeTimers()
  const mutex = new KeyedMutex<string>()
  const { open, order, tasks } = gates(['hangs', 'second', 'third'])
  const [, second, third] = tasks.map((task) => mutex.run('a', task, 700))
  await vi.advanceTimersByTimeAsync(699)
  expect(order).toEqual(['+hangs'])
  await vi.advanceTimersByTimeAsync(1)
  open('second')
  open('third')
  await vi.runAllTimersAsync()
  expect(await Promise.all([second, third])).toEqual(['second', 'third'])
  expect(order.slice(0, 2)).toEqual(['+hangs', '+second'])
})

test('[K1] a task of a request that ended holds up later ones once, and nobody after its deadline', async () => {
  vi.useFakeTimers()
  const mutex = new KeyedMutex<string>()
  void mutex.run('a', () => new Promise(() => {}), 700)
  const second = mutex.run('a', async () => 'second', 700)
  await vi.advanceTimersByTimeAsync(700)
  expect(await second).toBe('second')
  await vi.advanceTimersByTimeAsync(1000)
  expect(await mutex.run('a', async () => 'third', 700)).toBe('third')
  expect(await isFree(mutex)).toBe(true)
})

test('[Q4] a task that had to wait has its whole time, in which later ones wait for it', async () => {
  vi.useFakeTimers()
  const mutex = new KeyedMutex<string>()
  const { open, order, tasks } = gates(['hangs', 'second', 'third'])
  const [first, second, third] = tasks
  if (!first || !second || !third) throw new Error('three tasks')
  void mutex.run('a', first, 5000)
  void mutex.run('a', second, 5000)
  await vi.advanceTimersByTimeAsync(9000)
  void mutex.run('a', third, 5000)
  await vi.advanceTimersByTimeAsync(900)
  expect(order).toEqual(['+hangs', '+second'])
  open('second')
  await vi.advanceTimersByTimeAsync(0)
  expect(order).toEqual(['+hangs', '+second', '-second', '+third'])
})

test('[Q4] a task that ends after its deadline does not let later ones run at the same time', async () => {
  vi.useFakeTimers()
  const mutex = new KeyedMutex<string>()
  const { open, order, tasks } = gates(['late', 'second', 'third'])
  const [late, second, third] = tasks
  if (!late || !second || !third) throw new Error('three tasks')
  void mutex.run('a', late, 700)
  await vi.advanceTimersByTimeAsync(1700)
  expect(await isFree(mutex)).toBe(true)
  await mutex.run('a', async () => 'alone', 700)
  void mutex.run('a', second, LONG)
  await vi.advanceTimersByTimeAsync(0)
  open('late')
  await vi.advanceTimersByTimeAsync(0)
  void mutex.run('a', third, LONG)
  await vi.advanceTimersByTimeAsync(0)
  expect(order).toEqual(['+late', '+second', '-late'])
})

test('tasks of all keys wait for those before them of every key, later ones for them, and none for another of all keys', async () => {
  const mutex = new KeyedMutex<string>()
  const { open, order, tasks } = gates(['running', 'queued', 'other', 'alone', 'again', 'later'])
  const [running, queued, other, alone, again, later] = tasks
  if (!running || !queued || !other || !alone || !again || !later) throw new Error('six tasks')
  void mutex.run('a', running, LONG)
  void mutex.run('a', queued, LONG)
  void mutex.run('b', other, LONG)
  const results = [alone, again].map((task) => mutex.run(ALL_KEYS, task, LONG))
  const last = ['a', 'c'].map((key) => mutex.run(key, later, LONG))
  for (const name of ['later', 'again', 'queued', 'running']) open(name)
  await turn()
  expect(order).toEqual(['+running', '+other', '-running', '+queued', '-queued'])
  open('other')
  await turn()
  expect(order.slice(5)).toEqual(['-other', '+alone', '+again', '-again'])
  open('alone')
  expect(await Promise.all([...results, ...last])).toEqual(['alone', 'again', 'later', 'later'])
  expect(order.slice(9)).toEqual(['-alone', '+later', '+later', '-later', '-later'])
  expect(await isFree(mutex)).toBe(true)
})

test('a task that runs alone waits for a limited time, and holds up later ones as long', async () => {
  vi.useFakeTimers()
  const mutex = new KeyedMutex<string>()
  const { order, tasks } = gates(['hangs', 'alone', 'later'])
  const [hangs, alone, later] = tasks
  if (!hangs || !alone || !later) throw new Error('three tasks')
  void mutex.run('a', hangs, LONG)
  void mutex.run(ALL_KEYS, alone, 700)
  await vi.advanceTimersByTimeAsync(699)
  expect(order).toEqual(['+hangs'])
  await vi.advanceTimersByTimeAsync(1)
  void mutex.run('b', later, 700)
  await vi.advanceTimersByTimeAsync(699)
  expect(order).toEqual(['+hangs', '+alone'])
  await vi.advanceTimersByTimeAsync(1)
  expect(order).toEqual(['+hangs', '+alone', '+later'])
})

test('a task that fails alone does not stop later ones', async () => {
  const mutex = new KeyedMutex<string>()
  const failing = mutex.run(ALL_KEYS, () => Promise.reject(new Error('no')), LONG)
  const next = mutex.run('a', async () => 'next', LONG)
  await expect(failing).rejects.toThrow('no')
  expect(await next).toBe('next')
})

test('a task that runs alone waits for one that a later one of its key did not wait for', async () => {
  vi.useFakeTimers()
  const mutex = new KeyedMutex<string>()
  const { open, order, tasks } = gates(['slow', 'second'])
  const [, second] = tasks.map((task) => mutex.run('a', task, 700))
  await vi.advanceTimersByTimeAsync(700)
  open('second')
  await second
  await vi.advanceTimersByTimeAsync(0)
  const alone = mutex.run(ALL_KEYS, async () => void order.push('alone'), 1000)
  await vi.advanceTimersByTimeAsync(999)
  expect(order).toEqual(['+slow', '+second', '-second'])
  open('slow')
  await alone
  expect(order.slice(3)).toEqual(['-slow', 'alone'])
  expect(await isFree(mutex)).toBe(true)
})
