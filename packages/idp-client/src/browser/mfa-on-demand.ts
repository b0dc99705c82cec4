// One chunk, loaded at the first use: two would make a third of what they share.
export * from './mfa-requests.ts'
export { completeChallenge } from './popup.ts'
