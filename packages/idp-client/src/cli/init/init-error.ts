/** A reason why `init` changes nothing, as a sentence for the user. Exit code 2: the arguments are wrong; 1: anything else. */
export class InitError extends Error {
  readonly code: 1 | 2

  constructor(message: string, code: 1 | 2 = 1) {
    super(message)
    this.name = 'InitError'
    this.code = code
  }
}

/** The system's code of an error, for example `EACCES`. */
export function toSystemCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}
