export { fromBase64url, toBase64url } from '#cipher'
