export * from './mfa-requests.ts'
export { completeChallenge } from './popup.ts'
