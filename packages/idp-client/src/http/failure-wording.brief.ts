import { codes } from '../errors/codes.ts'
import type { toWording as toFullWording } from './failure-wording.ts'

/** In place of `failure-wording.ts` in `idp-client/edge`: the message of the error, without texts for users. */
export const toWording: typeof toFullWording = ({ diagnosis: { error }, status }) => ({
  title: status < 500 ? 'The request was not completed' : 'Something went wrong',
  sentence: codes[error].message,
})
