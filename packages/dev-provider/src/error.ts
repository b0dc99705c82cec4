/** The provider cannot do what it was asked to; the message names the problem and the fix. */
export class DevProviderError extends Error {
  override readonly name = 'DevProviderError'
}
