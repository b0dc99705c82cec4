import type { IdpError } from '../errors/base.ts'
import { diagnose } from '../errors/diagnosis.ts'
import type { FailureReport } from '../http/failure-page.ts'
import { failureJson, failurePage } from '../http/failure-page.ts'
import { wantsJson } from '../http/request-kind.ts'
import { mfaRequiredJson } from './fail-with-json.ts'
import type { Links } from './links.ts'
import type { RouteRequest } from './route.ts'
import { toStatus } from './status.ts'

/** Returns the content of the failure page for an error. */
export function toReport(
  error: IdpError,
  { development, id }: Pick<RouteRequest, 'development' | 'id'>,
): FailureReport {
  return { status: toStatus(error), diagnosis: diagnose(error), development, id }
}

/** Responds on routes that users navigate to: with a page, or with JSON if the client prefers it. */
export function failWithPage(
  error: IdpError,
  request: Pick<RouteRequest, 'development' | 'exchange' | 'id'>,
  links: Links,
  restartUrl?: string,
): Response {
  const report = toReport(error, request)
  if (wantsJson(request.exchange.request.headers)) return mfaRequiredJson(error) ?? failureJson(report)
  return failurePage({ ...report, homeUrl: links.home, retryUrl: links.login, restartUrl })
}
