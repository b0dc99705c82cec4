import type { ResourceConfig } from '../config/resource.ts'
import type { Application } from '../engine.ts'
import { describeResource } from '../flows/resource-metadata.ts'
import type { RequestView } from '../http/exchange.ts'
import { empty, errorJson } from '../http/responses.ts'
import { asIdpError } from '../log/failure.ts'
import { reportRefusal } from '../log/refusal.ts'
import { toStatus } from './status.ts'

const METHODS = ['GET', 'HEAD', 'OPTIONS']

/** The document is public and the same for everybody; scripts of any site may read it. */
const HEADERS = {
  'access-control-allow-origin': '*',
  'cache-control': 'public, max-age=300',
  'content-type': 'application/json',
  'x-content-type-options': 'nosniff',
}

/** The response to the preflight of a script, which may send headers of its own, such as the version of MCP. */
const PREFLIGHT = {
  ...HEADERS,
  'access-control-allow-methods': METHODS.join(', '),
  'access-control-allow-headers': '*',
}

/** Lets scripts of any site read an error, too. */
function readable(response: Response): Response {
  response.headers.set('access-control-allow-origin', '*')
  return response
}

/** Responds with the metadata of an API. Never sets a cookie. */
export async function resourceMetadata(
  application: Application,
  { method }: RequestView,
  resource: ResourceConfig,
): Promise<Response> {
  if (!METHODS.includes(method)) return readable(empty(405, { allow: METHODS.join(', ') }))
  if (method === 'OPTIONS') return new Response(null, { status: 204, headers: PREFLIGHT })
  try {
    const document = await describeResource(application.apiEngine(), resource)
    return new Response(method === 'HEAD' ? null : JSON.stringify(document), { headers: HEADERS })
  } catch (thrown) {
    const error = asIdpError(thrown)
    // Anybody can request it any number of times. Configuration errors were reported at construction.
    if (error.code !== 'INVALID_CONFIGURATION') reportRefusal(application.apiEngine().config, error, 'error')
    return readable(errorJson(Math.max(500, toStatus(error)), error.code))
  }
}
