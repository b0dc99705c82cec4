import { AsyncLocalStorage } from 'node:async_hooks'

/** The provider's own time; decides iat, exp and auth_time, and with them every expiry. */
export interface VirtualClock {
  /** Seconds since the epoch, as the provider sees them. */
  now(): number
  /** Moves the provider's time by so many seconds; negative values move it back. */
  advance(seconds: number): void
  /** Sets the provider's time, which continues from there. */
  set(epochSeconds: number): void
  /** Back to real time, or to the clock that the provider was started with. */
  reset(): void
}

/** A clock together with the scope in which `Date` follows it. */
export interface ClockScope extends VirtualClock {
  /** Milliseconds since the epoch, as the provider sees them. */
  milliseconds(): number
  /** Runs the work, and everything asynchronous that it starts, on this clock. */
  run<T>(work: () => T): T
  /** Takes the `Date` shim away again once no other clock needs it. */
  dispose(): void
}

/** Milliseconds since the epoch. */
type Milliseconds = () => number

// oidc-provider and jose read the time as `Date.now()` and `new Date()` and offer no way to inject it.
// The shim therefore returns the provider's time only inside `run` (an asynchronous context), so that
// tests, the application under test and other providers in the same process keep real time. It is
// installed when a clock first differs from real time, and never in a run without such a clock.
const current = new AsyncLocalStorage<Milliseconds>()
const moved = new Set<Milliseconds>()
let installed: { readonly real: DateConstructor; readonly shim: DateConstructor } | undefined

function createShim(real: DateConstructor): DateConstructor {
  const now = (): number => current.getStore()?.() ?? real.now()
  return new Proxy(real, {
    get: (target, key, receiver) => (key === 'now' ? now : Reflect.get(target, key, receiver)),
    apply: () => new real(now()).toString(),
    construct: (target, values, newTarget) =>
      Reflect.construct(target, values.length === 0 ? [now()] : values, newTarget),
  })
}

function install(): void {
  if (installed && globalThis.Date === installed.shim) return
  const real = globalThis.Date
  installed = { real, shim: createShim(real) }
  globalThis.Date = installed.shim
}

function uninstall(): void {
  if (installed && globalThis.Date === installed.shim) globalThis.Date = installed.real
  installed = undefined
}

/** A clock that follows `source` (seconds since the epoch), or real time without one. */
export function createClock(source?: () => number): ClockScope {
  let shift = 0
  const base = source ? () => source() * 1000 : () => Date.now()
  // Outside the scope, where `Date` is real time.
  const milliseconds: Milliseconds = () => current.exit(base) + shift
  const isReal = (): boolean => source === undefined && shift === 0

  const move = (by: number): void => {
    shift = by
    if (isReal()) return
    moved.add(milliseconds)
    install()
  }
  move(0)

  return {
    now: () => Math.floor(milliseconds() / 1000),
    milliseconds,
    advance: (seconds) => move(shift + seconds * 1000),
    set: (epochSeconds) => move(epochSeconds * 1000 - current.exit(base)),
    reset: () => move(0),
    run: (work) => {
      // Fake timers of a test runner may have replaced `Date` since; the shim wraps them.
      if (!isReal()) install()
      return current.run(milliseconds, work)
    },
    dispose: () => {
      moved.delete(milliseconds)
      if (moved.size === 0) uninstall()
    },
  }
}
