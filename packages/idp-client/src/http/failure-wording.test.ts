import { expect, test } from 'vitest'
import { toAdvice } from '../errors/advice.brief.ts'
import { IdpError } from '../errors/base.ts'
import { codes } from '../errors/codes.ts'
import { diagnose } from '../errors/diagnosis.ts'
import { toWording as toBriefWording } from './failure-wording.brief.ts'

test('the texts of idp-client/edge are messages of errors, and name the troubleshooting guide', () => {
  const diagnosis = diagnose(new IdpError('UNKNOWN_STATE'))
  expect(toBriefWording({ diagnosis, status: 400 })).toEqual({
    title: 'The request was not completed',
    sentence: codes.UNKNOWN_STATE.message,
  })
  expect(toBriefWording({ diagnosis, status: 502 }).title).toBe('Something went wrong')
  expect(toAdvice('CLOCKS_DIFFER', 'ID_TOKEN_INVALID')).toEqual({
    remedy: 'CLOCKS_DIFFER',
    advice: 'The troubleshooting guide has the fix.',
  })
})
