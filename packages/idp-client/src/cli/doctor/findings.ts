import type { Finding } from '../../errors/finding.ts'
import { createFinding, toFinding } from '../../errors/finding.ts'
import { DOCS, remedies } from '../../errors/remedies.ts'
import type { Remedy } from '../../errors/remedy.ts'
import { asIdpError } from '../../log/failure.ts'
import type { DoctorCode, FindingCode } from './codes.ts'
import { doctorRemedies } from './codes.ts'

/** A finding of the doctor. */
export type DoctorFinding = Finding<FindingCode>

/** The findings of a check; empty if all is well. */
export type Findings = readonly DoctorFinding[]

const isDoctorCode = (code: FindingCode): code is DoctorCode => Object.hasOwn(doctorRemedies, code)

/** Returns whether a text is the code of a finding that the library itself reports. */
export const isRemedy = (code: string): code is Remedy => Object.hasOwn(remedies, code)

/** Creates a finding. The message contains no secret, and nothing that another server chose. */
export function find(code: FindingCode, message: string): Findings {
  if (!isDoctorCode(code)) return [createFinding(code, message)]
  const page = `${DOCS}/guides/doctor.md#${code}:~:text=${code}`
  return [{ code, message, advice: doctorRemedies[code], page }]
}

/** Returns the finding for what was thrown: an error of the library, or an unexpected one, of which the class is known only. */
export const findThrown = (thrown: unknown): Findings => [toFinding(asIdpError(thrown))]
