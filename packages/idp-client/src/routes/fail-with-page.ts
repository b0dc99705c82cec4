import type { IdpError } from '../errors/base.ts'
import { diagnose } from '../errors/diagnosis.ts'
import { failurePage } from '../http/failure-page.ts'
import { wantsJson } from '../http/request-kind.ts'
import { defined } from '../lib/objects.ts'
import { mfaRequiredJson } from './fail-with-json.ts'
import type { Links, RouteRequest } from './route.ts'
import { toStatus } from './status.ts'

/** Responds on routes that users navigate to: with a page, or with JSON if the client prefers it. */
export function failWithPage(
  error: IdpError,
  { development, exchange, id }: RouteRequest,
  links: Links,
  restartUrl?: string,
): Response {
  const json = wantsJson(exchange.request.headers)
  const mfaRequired = json && mfaRequiredJson(error)
  if (mfaRequired) return mfaRequired
  return failurePage(
    defined({
      status: toStatus(error),
      diagnosis: diagnose(error),
      development,
      id,
      json,
      homeUrl: links.home,
      retryUrl: links.login,
      restartUrl,
    }),
  )
}
