import { AsyncLocalStorage } from 'node:async_hooks'

/** The provider's own notion of time; shifts iat, exp and auth_time, and with them every expiry. */
export interface VirtualClock {
  /** Seconds since the epoch, as the provider sees them. */
  now(): number
  /** Moves the provider's time by so many seconds; negative values move it back. */
  advance(seconds: number): void
  /** Sets the provider's time, which goes on running from there. */
  set(epochSeconds: number): void
  /** Back to real time. */
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

interface Shift {
  milliseconds: number
}

// oidc-provider and jose read the time as `Date.now()` and `new Date()` and offer no way to inject it.
// The shim therefore answers with shifted time only inside `run` (an asynchronous context), so that
// tests, the application under test and other providers in the same process keep real time. It is
// installed when a clock is first moved, and not at all in a run that never moves one.
const current = new AsyncLocalStorage<Shift>()
const moved = new Set<Shift>()
let installed: { readonly real: DateConstructor; readonly shim: DateConstructor } | undefined

function shimOf(real: DateConstructor): DateConstructor {
  const now = (): number => real.now() + (current.getStore()?.milliseconds ?? 0)
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
  installed = { real, shim: shimOf(real) }
  globalThis.Date = installed.shim
}

function uninstall(): void {
  if (installed && globalThis.Date === installed.shim) globalThis.Date = installed.real
  installed = undefined
}

/** A clock at real time. */
export function createClock(): ClockScope {
  const shift: Shift = { milliseconds: 0 }
  const realNow = (): number => current.exit(() => Date.now())

  const move = (milliseconds: number): void => {
    shift.milliseconds = milliseconds
    if (milliseconds === 0) return
    moved.add(shift)
    install()
  }

  return {
    now: () => Math.floor((realNow() + shift.milliseconds) / 1000),
    milliseconds: () => realNow() + shift.milliseconds,
    advance: (seconds) => move(shift.milliseconds + seconds * 1000),
    set: (epochSeconds) => move(epochSeconds * 1000 - realNow()),
    reset: () => move(0),
    run: (work) => {
      // Fake timers of a test runner may have replaced `Date` since; the shim goes on top of them.
      if (shift.milliseconds !== 0) install()
      return current.run(shift, work)
    },
    dispose: () => {
      moved.delete(shift)
      if (moved.size === 0) uninstall()
    },
  }
}
