import type { InteractionResults, Provider } from 'oidc-provider'
import { REQUESTED_SCOPE } from './oidc/authorization.ts'
import type { ProviderState } from './oidc/state.ts'
import type { LoginPage } from './pages/login.ts'
import { loginPage } from './pages/login.ts'
import { noticePage } from './pages/notices.ts'
import type { User } from './users.ts'
import type { Answer, Call } from './wire/message.ts'
import { detach, formOf, htmlAnswer, pathOf, redirectAnswer } from './wire/message.ts'

type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>

function param(interaction: Interaction, name: string): string {
  const value = interaction.params[name]
  return typeof value === 'string' ? value : ''
}

/** Who is signed in without being asked, if anybody. */
function automatic(state: ProviderState, interaction: Interaction): User | undefined {
  const { autoLogin } = state.settings
  if (autoLogin === false) return undefined
  const hinted = state.users.find(param(interaction, 'login_hint'))
  return hinted ?? (typeof autoLogin === 'string' ? state.users.find(autoLogin) : undefined)
}

function success(interaction: Interaction, user: User): InteractionResults {
  const [acr] = param(interaction, 'acr_values').split(' ')
  return {
    login: { accountId: user.sub, amr: ['pwd'], ...(acr ? { acr } : {}) },
    consent: {},
    select_account: {},
    create: {},
  }
}

function modeOf(interaction: Interaction, current: User | undefined): LoginPage['mode'] {
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
    mode: modeOf(interaction, current),
    current,
    hint: param(interaction, 'login_hint'),
  }
}

/** What the submitted form asks for: an outcome, or the words to show above the form. */
function decide(
  state: ProviderState,
  interaction: Interaction,
  form: URLSearchParams,
): InteractionResults | string {
  if (form.has('deny')) {
    return { error: 'access_denied', error_description: 'The user denied the request' }
  }
  const name = form.get('user')?.trim() ?? ''
  const known = state.users.find(name)
  if (form.has('create')) {
    if (name === '') return 'Choose a user name.'
    if (known) return 'That user name is taken.'
    return success(interaction, state.users.add({ name }))
  }
  return known ? success(interaction, known) : 'There is no user with that name.'
}

/** The login page and its form: everything between oidc-provider's redirect to it and the way back. */
export async function interact(state: ProviderState, call: Call): Promise<Answer> {
  const { request, response } = detach(call, state.mountPath)
  let interaction: Interaction
  try {
    interaction = await state.engine.interactionDetails(request, response)
  } catch {
    return htmlAnswer(
      400,
      noticePage('This login has expired', 'Go back to the application and sign in again.', 'login_expired'),
    )
  }

  const page = view(state, interaction, pathOf(call))
  const user = automatic(state, interaction)
  const outcome =
    call.method === 'POST' ? decide(state, interaction, formOf(call)) : user && success(interaction, user)
  if (outcome === undefined) return htmlAnswer(200, loginPage(page))
  if (typeof outcome === 'string') return htmlAnswer(422, loginPage({ ...page, problem: outcome }))
  return redirectAnswer(await state.engine.interactionResult(request, response, outcome))
}
