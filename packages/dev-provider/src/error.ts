/** The provider cannot do what it was asked to; the message names what is wrong and how to go on. */
export class DevProviderError extends Error {
  override readonly name = 'DevProviderError'
}
