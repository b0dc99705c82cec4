import { afterEach, expect, test, vi } from 'vitest'
import { KeyedMutex } from './shared-run.ts'

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

/** Returns how often work around the tasks runs. */
async function runsAround(mutex: KeyedMutex<string>): Promise<number> {
  let runs = 0
  await mutex.runAroundTasks(async () => {
    runs++
  }, 700)
  return runs
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
  expect(await runsAround(mutex)).toBe(1)
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
  expect(await runsAround(mutex)).toBe(1)
  await mutex.run('a', async () => 'alone', 700)
  void mutex.run('a', second, LONG)
  open('late')
  await vi.advanceTimersByTimeAsync(0)
  void mutex.run('a', third, LONG)
  await vi.advanceTimersByTimeAsync(0)
  expect(order).toEqual(['+late', '+second', '-late'])
})

test('work around tasks runs at once, and again between those that came before its end and later ones of their keys', async () => {
  const mutex = new KeyedMutex<string>()
  const { open, order, tasks } = gates(['running', 'queued', 'work', 'meanwhile', 'later'])
  const [running, queued, work, meanwhile, later] = tasks
  if (!running || !queued || !work || !meanwhile || !later) throw new Error('five tasks')
  void mutex.run('a', running, LONG)
  void mutex.run('a', queued, LONG)
  const around = mutex.runAroundTasks(work, LONG)
  void mutex.run('b', meanwhile, LONG)
  await turn()
  expect(order).toEqual(['+work', '+running', '+meanwhile'])
  open('work')
  await turn()
  const last = ['a', 'b'].map((key) => mutex.run(key, later, LONG))
  for (const name of ['later', 'meanwhile', 'queued', 'running']) open(name)
  expect(await around).toBe('work')
  await Promise.all(last)
  const [before, after] = [order.slice(4, -6), order.slice(-6)]
  expect(before.sort()).toEqual(['+queued', '-meanwhile', '-queued', '-running'])
  expect(after).toEqual(['+work', '-work', '+later', '+later', '-later', '-later'])
  expect(await runsAround(mutex)).toBe(1)
})

test('work runs again for a task that has ended during it', async () => {
  const mutex = new KeyedMutex<string>()
  const { open, order, tasks } = gates(['task', 'work'])
  const [task, work] = tasks
  if (!task || !work) throw new Error('two tasks')
  const ended = mutex.run('a', task, LONG)
  const around = mutex.runAroundTasks(work, LONG)
  open('task')
  await ended
  await turn()
  open('work')
  await around
  expect(order.slice(-2)).toEqual(['+work', '-work'])
  expect(order.filter((one) => one === '+work')).toHaveLength(2)
})

test('work runs again after its tasks have had a limited time', async () => {
  vi.useFakeTimers()
  const mutex = new KeyedMutex<string>()
  void mutex.run('a', () => new Promise(() => {}), LONG)
  const around = runsAround(mutex)
  await vi.advanceTimersByTimeAsync(700)
  expect(await around).toBe(2)
})

test('work runs again only after a task that a later one of its key did not wait for', async () => {
  vi.useFakeTimers()
  const mutex = new KeyedMutex<string>()
  const { open, order, tasks } = gates(['slow', 'second'])
  const [, second] = tasks.map((task) => mutex.run('a', task, 700))
  await vi.advanceTimersByTimeAsync(700)
  open('second')
  await second
  await vi.advanceTimersByTimeAsync(0)
  const around = mutex.runAroundTasks(async () => void order.push('work'), 1000)
  await vi.advanceTimersByTimeAsync(999)
  expect(order).toEqual(['+slow', '+second', '-second', 'work'])
  open('slow')
  await around
  expect(order.slice(4)).toEqual(['-slow', 'work'])
  expect(await runsAround(mutex)).toBe(1)
})
