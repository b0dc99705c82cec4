/** The value of a property, or the function that computes it, each time anew. */
type Deferred = { readonly value: unknown; readonly compute?: never } | { readonly compute: () => unknown }

/** Where an object keeps its deferred values: the object itself may be frozen. Neither copies nor JSON contain it. */
const DEFERRED = Symbol('deferred')

interface Holder {
  [DEFERRED]: Record<string, Deferred>
}

/*
 * All objects share the accessors of a name: with functions of its own, every object would get a hidden class of its own,
 * which V8 frees only in major garbage collections.
 */
const accessors = new Map<string, PropertyDescriptor>()

function createAccessor(name: string): PropertyDescriptor {
  return {
    configurable: true,
    enumerable: true,
    get(this: Holder) {
      const deferred = this[DEFERRED][name]
      if (!deferred || 'value' in deferred) return deferred?.value
      const value = deferred.compute()
      this[DEFERRED][name] = { value }
      return value
    },
    set(this: Holder, value: unknown) {
      this[DEFERRED][name] = { value }
    },
  }
}

function getAccessor(name: string): PropertyDescriptor {
  const known = accessors.get(name)
  if (known) return known
  const accessor = createAccessor(name)
  accessors.set(name, accessor)
  return accessor
}

/** Returns the value or the function of a property that `onFirstRead` defined; undefined for other properties. */
export function getDeferred(holder: object, name: string): Deferred | undefined {
  return (holder as Partial<Holder>)[DEFERRED]?.[name]
}

/** Defines a property that is computed when it is first read. `name` is one of a few constants of this library. */
export function onFirstRead(holder: object, name: string, compute: () => unknown): void {
  const target = holder as Holder
  if (!(DEFERRED in target)) Object.defineProperty(target, DEFERRED, { value: Object.create(null) })
  target[DEFERRED][name] = { compute }
  Object.defineProperty(target, name, getAccessor(name))
}
