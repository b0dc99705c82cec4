// The chunk that is loaded with the first request. Two chunks would be a tenth larger.
export { accessToken } from './access-token.ts'
export * from './mfa-requests.ts'
export { completeChallenge } from './popup.ts'
export { watch } from './watcher.ts'
