import type { IncomingMessage, ServerResponse } from 'node:http'
import type { InteractionResults, Provider } from 'oidc-provider'
import { asksSecondStep, beginSecondStep, pendingLogin, takeSecondStep } from './extensions/mfa/login.ts'
import type { PendingLogin } from './extensions/mfa/state.ts'
import { otpauthUri } from './extensions/mfa/totp.ts'
import { REQUESTED_SCOPE } from './oidc/authorization.ts'
import { inject, noteFailure } from './oidc/inject.ts'
import type { ProviderState } from './oidc/state.ts'
import type { LoginPage } from './pages/login.ts'
import { loginPage } from './pages/login.ts'
import { refusalResponse } from './pages/notices.ts'
import { secondStepPage } from './pages/second-step.ts'
import type { User } from './users.ts'
import { send } from './wire/deliver.ts'
import { DEV_PATH, INBOX_PATH } from './wire/endpoints.ts'
import type { BufferedResponse, Call } from './wire/message.ts'
import { getPath, htmlResponse, parseForm, redirectResponse } from './wire/message.ts'

type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>

function param(interaction: Interaction, name: string): string {
  const value = interaction.params[name]
  return typeof value === 'string' ? value : ''
}

/** Returns the user who is signed in without a login page, if any. */
function automatic(state: ProviderState, interaction: Interaction): User | undefined {
  const { autoLogin } = state.settings
  if (autoLogin === false) return undefined
  const hinted = state.users.find(param(interaction, 'login_hint'))
  return hinted ?? (typeof autoLogin === 'string' ? state.users.find(autoLogin) : undefined)
}

type Login = NonNullable<InteractionResults['login']>

function success(login: Login): InteractionResults {
  return { login, consent: {}, select_account: {}, create: {} }
}

function byPassword(interaction: Interaction, user: User): Login {
  const [acr] = param(interaction, 'acr_values').split(' ')
  return { accountId: user.sub, amr: ['pwd'], ...(acr ? { acr } : {}) }
}

const DENIED: InteractionResults = {
  error: 'access_denied',
  error_description: 'The user denied the request',
}

function resolveMode(interaction: Interaction, current: User | undefined): LoginPage['mode'] {
  if (interaction.prompt.name === 'consent' && current) return 'consent'
  const signup = param(interaction, 'screen_hint') === 'signup' || interaction.prompt.name === 'create'
  return signup ? 'signup' : 'login'
}

function view(state: ProviderState, interaction: Interaction, action: string): LoginPage {
  const client = state.clients.find(param(interaction, 'client_id'))
  const sub = interaction.session?.accountId
  const current = sub === undefined ? undefined : state.users.bySub(sub)
  return {
    action,
    app: client?.options.name ?? param(interaction, 'client_id'),
    scopes: param(interaction, REQUESTED_SCOPE).split(' ').filter(Boolean),
    users: state.users.all(),
    mode: resolveMode(interaction, current),
    current,
    hint: param(interaction, 'login_hint'),
    overview: state.mountPath + DEV_PATH,
  }
}

/** Whom the submitted form names, or the words to show above the form. */
function findUser(state: ProviderState, form: URLSearchParams): User | string {
  const name = form.get('user')?.trim() ?? ''
  const known = state.users.find(name)
  if (!form.has('create')) return known ?? 'There is no user with that name.'
  if (name === '') return 'Choose a user name.'
  return known ? 'That user name is taken.' : state.users.add({ name })
}

/** A page that is shown again because of what was entered. */
function rejectedForm(html: string, reason: string): BufferedResponse {
  return { ...htmlResponse(422, html), failure: { error: 'invalid_form', reason } }
}

/** Returns the user who signs in, or the page that asks for one. */
function firstStep(
  state: ProviderState,
  interaction: Interaction,
  call: Call,
): { user: User } | { response: BufferedResponse } {
  const page = view(state, interaction, getPath(call))
  if (call.method !== 'POST') {
    const user = automatic(state, interaction)
    return user ? { user } : { response: htmlResponse(200, loginPage(page)) }
  }
  const found = findUser(state, parseForm(call))
  if (typeof found !== 'string') return { user: found }
  return { response: rejectedForm(loginPage({ ...page, problem: found }), found) }
}

/** The login after its second step, or the page for it. */
function secondStep(
  state: ProviderState,
  interaction: Interaction,
  login: PendingLogin,
  call: Call,
): { login: Login } | { response: BufferedResponse } {
  const code = call.method === 'POST' ? parseForm(call).get('otp') : null
  const taken = code === null ? undefined : takeSecondStep(state, interaction, login, code)
  if (typeof taken === 'object') return { login: taken }
  const { app } = view(state, interaction, '')
  const account = state.users.bySub(login.sub)?.name ?? login.sub
  const { secret } = login
  const html = secondStepPage({
    action: getPath(call),
    app,
    inbox: state.mountPath + INBOX_PATH,
    account,
    ...(secret === undefined ? {} : { enrollment: { secret, uri: otpauthUri(secret, account) } }),
    ...(taken === undefined ? {} : { problem: taken }),
  })
  return { response: taken === undefined ? htmlResponse(200, html) : rejectedForm(html, taken) }
}

function proceed(
  state: ProviderState,
  interaction: Interaction,
  call: Call,
): { result: InteractionResults } | { response: BufferedResponse } {
  if (call.method === 'POST' && parseForm(call).has('deny')) return { result: DENIED }
  let pending = pendingLogin(state, interaction)
  if (!pending) {
    const first = firstStep(state, interaction, call)
    if ('response' in first) return first
    const { user } = first
    if (!asksSecondStep(state, interaction.params)) return { result: success(byPassword(interaction, user)) }
    pending = beginSecondStep(state, interaction, user)
    if (call.method === 'POST') return { response: redirectResponse(call.url) }
  }
  const second = secondStep(state, interaction, pending, call)
  return 'response' in second ? second : { result: success(second.login) }
}

async function nextPage(
  state: ProviderState,
  call: Call,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<BufferedResponse> {
  let interaction: Interaction
  try {
    interaction = await state.engine.interactionDetails(request, response)
  } catch {
    return refusalResponse(400, {
      title: 'This login has expired',
      reason: 'Go back to the application and sign in again.',
      error: 'login_expired',
      overview: state.mountPath + DEV_PATH,
    })
  }
  const step = proceed(state, interaction, call)
  if ('response' in step) return step.response
  return redirectResponse(await state.engine.interactionResult(request, response, step.result))
}

/** The login pages and their forms: everything between oidc-provider's redirect to it and the way back. */
export function interact(state: ProviderState, call: Call): Promise<BufferedResponse> {
  return inject(state, call, async (request, response) => {
    const { failure, ...buffered } = await nextPage(state, call, request, response)
    if (failure) noteFailure(request, failure)
    send(response, buffered)
  })
}
