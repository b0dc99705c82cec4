/** The released version, sent in the `Idp-Client` header; equal to package.json (checked by the build). */
export const version = '0.1.0'
