// One chunk, loaded by the first who asks a route: in two, it would be a tenth more.
export { accessToken } from './access-token.ts'
export * from './mfa-requests.ts'
export { completeChallenge } from './popup.ts'
export { watch } from './watcher.ts'
