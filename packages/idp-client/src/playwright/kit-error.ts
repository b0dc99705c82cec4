/** Returns the error of a test that is set up wrongly; Playwright shows its message beside the test. */
export const kitError = (message: string, options?: ErrorOptions): Error =>
  new Error(`idp-client/playwright: ${message}`, options)
