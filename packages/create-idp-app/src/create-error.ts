/** A reason why no application is made, as a sentence for the user. Exit code 2: the arguments are wrong; 1: anything else. */
export class CreateError extends Error {
  readonly code: 1 | 2

  constructor(message: string, code: 1 | 2) {
    super(message)
    this.name = 'CreateError'
    this.code = code
  }
}
