import type { IncomingMessage, ServerResponse } from 'node:http'
import { describeUnknownAudience } from './apis.ts'
import { accountApi } from './extensions/accounts/api.ts'
import { connectPage } from './extensions/accounts/page.ts'
import { apiUserinfo } from './extensions/api-userinfo.ts'
import {
  normalizeAuthentication,
  refusedMethod,
  withWrongSecretError,
} from './extensions/client-authentication.ts'
import { certificateApi } from './extensions/client-certificates.ts'
import {
  frontChannelUrls,
  withFrontChannelMetadata,
  withLogoutFrames,
} from './extensions/front-channel-logout.ts'
import { introspectJwt } from './extensions/jwt-introspection.ts'
import { mfaApi } from './extensions/mfa/api.ts'
import { refusedOfflineAccess, withoutOfflineAccess } from './extensions/offline-access.ts'
import { withoutRequestObject } from './extensions/request-objects.ts'
import { moveAuthTime } from './extensions/session-auth-time.ts'
import { v2Logout } from './extensions/v2-logout.ts'
import { interact } from './interaction.ts'
import { isLoopbackHost } from './loopback.ts'
import { engineResponse } from './oidc/inject.ts'
import type { ProviderState } from './oidc/state.ts'
import { devPage } from './pages/dev.ts'
import { send, sendFaulty } from './wire/deliver.ts'
import type { Endpoint } from './wire/endpoints.ts'
import { DEV_PATH, PATHS, toEndpoint, toOriginEndpoint } from './wire/endpoints.ts'
import { readFailure } from './wire/failure.ts'
import type { Fault, Rules } from './wire/faults.ts'
import type { BufferedResponse, Call } from './wire/message.ts'
import {
  getPath,
  jsonResponse,
  parseForm,
  parseJson,
  readCall,
  redirectResponse,
  withBody,
} from './wire/message.ts'
import type { RequestLog } from './wire/request-log.ts'
import type { Rewrites } from './wire/rewrites.ts'

/** Everything between the socket and oidc-provider. */
export interface Front {
  readonly state: ProviderState
  readonly log: RequestLog
  readonly faults: Rules<Fault>
  readonly rewrites: Rewrites
}

/** Handles one request: logs it, applies a fault, produces the response, and rewrites it. */
export async function handle(
  front: Front,
  request: IncomingMessage,
  response: ServerResponse,
  isCertificateListener = false,
): Promise<void> {
  const { state } = front
  const setDate = (): void => {
    response.setHeader('date', new Date(state.clock.milliseconds()).toUTCString())
  }
  try {
    setDate()
    const received = await readCall(request)
    if (!received) return send(response, jsonResponse(413, { error: 'request_too_large' }))
    if (!isForUs(received)) return send(response, jsonResponse(421, { error: 'foreign_host' }))
    // The endpoints in the metadata are built from the Host header; there is one right value for it at each listener.
    const host = new URL((isCertificateListener && state.certificateOrigin) || state.issuer).host
    const call: Call = { ...received, headers: { ...received.headers, host } }
    const endpoint = locate(state, call)
    const entry = front.log.add(call, endpoint, state.clock.milliseconds())
    const produce = async (): Promise<BufferedResponse> => {
      const real = await state.clock.run(() => respondTo(front, endpoint, call))
      const buffered = withWrongSecretError(state, endpoint, call, real)
      const failure = readFailure(buffered)
      Object.assign(entry, { status: buffered.status, ...(failure ? { failure } : {}) })
      const error = failure ? ` ${failure.error}: ${failure.reason}` : ''
      state.log(`${call.method} ${getPath(call)} ${buffered.status}${error}`)
      setDate()
      return front.rewrites.apply(buffered, entry)
    }
    const fault = front.faults.take(entry)
    if (!fault) return send(response, await produce())
    entry.failure = { error: `fault: ${fault.kind}`, reason: 'The test set this fault for the endpoint.' }
    await sendFaulty(response, fault, produce)
  } catch (error) {
    state.log(`failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
    if (response.headersSent) response.destroy()
    else send(response, jsonResponse(500, { error: 'server_error' }))
  }
}

// A page on the open web could otherwise reach this server under a name that resolves to loopback.
function isForUs(call: Call): boolean {
  const { host } = call.headers
  return (
    host === undefined ||
    (URL.canParse(`http://${host}`) && isLoopbackHost(new URL(`http://${host}`).hostname))
  )
}

function locate(state: ProviderState, call: Call): Endpoint {
  const path = getPath(call)
  const fixed = toOriginEndpoint(path)
  if (fixed) return fixed
  return isBelow(state, path) ? toEndpoint(path.slice(state.mountPath.length)) : 'other'
}

function isBelow(state: ProviderState, path: string): boolean {
  return path === state.mountPath || path.startsWith(`${state.mountPath}/`)
}

async function respondTo(front: Front, endpoint: Endpoint, received: Call): Promise<BufferedResponse> {
  const { state } = front
  const refused = refusedMethod(state, endpoint, received)
  if (refused) return refused
  const call = normalizeAuthentication(state, endpoint, received)
  switch (endpoint) {
    case 'v2Logout': {
      const frames = frontChannelUrls(state, call)
      return withLogoutFrames(frames, await v2Logout(state, call))
    }
    case 'interaction':
      return interact(state, call)
    case 'mfa-authenticators':
    case 'mfa-challenge':
    case 'mfa-associate':
      return mfaApi(state, endpoint, call)
    case 'account-connect':
    case 'account-complete':
    case 'account-list':
    case 'account-delete':
      return accountApi(state, endpoint, call)
    case 'connect-page':
      return connectPage(state, call)
    case 'certificate-api':
      return certificateApi(state, call)
    case 'dev':
      return devPage(state, front.log, call)
    case 'token':
      if (state.settings.refreshMovesAuthTime) await moveAuthTime(state, call)
      return (
        refusedAudience(state, call) ??
        refusedOfflineAccess(state, call) ??
        refusedReuse(state, call) ??
        engineResponse(state, call)
      )
    case 'discovery':
      return withFrontChannelMetadata(state, withoutOfflineAccess(state, await engineResponse(state, call)))
    case 'userinfo':
      return (await apiUserinfo(state, call)) ?? engineResponse(state, call)
    case 'introspection':
      return introspectJwt(state, call, await engineResponse(state, call))
    case 'backchannelAuthentication':
      return withInterval(state, await engineResponse(state, call))
    case 'authorize':
      return confirmLogout(state, call, await engineResponse(state, withoutRequestObject(state, call)))
    case 'endSession': {
      const frames = frontChannelUrls(state, call)
      return withLogoutFrames(frames, await confirmLogout(state, call, await engineResponse(state, call)))
    }
    case 'other': {
      const path = getPath(call)
      if (path === '/' || path === state.mountPath) return redirectResponse(`${state.mountPath}${DEV_PATH}`)
      if (path === '/favicon.ico') return { status: 204, headers: {}, body: Buffer.alloc(0) }
      return jsonResponse(404, { error: 'not_found' })
    }
    default:
      return engineResponse(state, call)
  }
}

/** oidc-provider consumes the refresh token before it looks at the target; a wrong one must not cost it. */
function refusedAudience(state: ProviderState, call: Call): BufferedResponse | undefined {
  const form = parseForm(call)
  const audience = form.get('audience') ?? form.get('resource')
  if (!audience || state.apis.find(audience)) return undefined
  return jsonResponse(400, {
    error: 'invalid_target',
    error_description: describeUnknownAudience(state.apis),
  })
}

/** Refuses a used refresh token like a provider that rotates without looking for reuse: its successors stay good. */
function refusedReuse({ settings, store }: ProviderState, call: Call): BufferedResponse | undefined {
  const form = parseForm(call)
  if (settings.revokeOnReuse || form.get('grant_type') !== 'refresh_token') return undefined
  if (store.find('RefreshToken', form.get('refresh_token') ?? '')?.consumed === undefined) return undefined
  return jsonResponse(400, { error: 'invalid_grant', error_description: 'refresh token already used' })
}

function withInterval(state: ProviderState, response: BufferedResponse): BufferedResponse {
  const body = parseJson(response)
  if (response.status !== 200 || !body) return response
  return withBody(response, JSON.stringify({ ...body, interval: state.settings.cibaInterval }))
}

/**
 * oidc-provider asks for confirmation with a form, both at logout and when another user signs in over an
 * existing session. Hosted providers do not ask; the form is sent right here.
 */
async function confirmLogout(
  state: ProviderState,
  call: Call,
  response: BufferedResponse,
): Promise<BufferedResponse> {
  const html = response.status === 200 ? response.body.toString('utf8') : ''
  const secret = /name="xsrf" value="([^"]+)"/.exec(html)?.[1]
  if (secret === undefined || !html.includes(`${PATHS.endSession}/confirm"`)) return response
  return engineResponse(state, {
    ...call,
    method: 'POST',
    url: `${state.mountPath}${PATHS.endSession}/confirm`,
    headers: {
      ...call.headers,
      cookie: mergedCookies(call, response),
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: Buffer.from(new URLSearchParams({ xsrf: secret, logout: 'yes' }).toString()),
  })
}

function mergedCookies(call: Call, response: BufferedResponse): string {
  const pairs = new Map<string, string>()
  const set = [response.headers['set-cookie'] ?? []].flat().map((line) => String(line).split(';', 1)[0] ?? '')
  for (const pair of [...(call.headers.cookie ?? '').split(/; */), ...set]) {
    const [name, ...value] = pair.split('=')
    if (name) pairs.set(name, value.join('='))
  }
  return [...pairs].map(([name, value]) => `${name}=${value}`).join('; ')
}
