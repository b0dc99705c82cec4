// useUser of Vue, Svelte and Solid in a DOM, against a server with a profile route.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { after, before, test } from 'node:test'
import { Window } from 'happy-dom'

const alice = { sub: 'alice', name: 'Alice' }
let requests = 0
let signedIn = true
const server = createServer((_request, response) => {
  requests += 1
  response.writeHead(signedIn ? 200 : 401, { 'content-type': 'application/json', connection: 'close' })
  response.end(JSON.stringify(signedIn ? alice : {}))
}).listen(0, '127.0.0.1')
await once(server, 'listening')

const origin = `http://127.0.0.1:${server.address().port}`
const window = new Window({ url: origin })
const fetched = fetch
Object.assign(globalThis, {
  window,
  document: window.document,
  location: window.location,
  addEventListener: window.addEventListener.bind(window),
  removeEventListener: window.removeEventListener.bind(window),
  fetch: (input, init) => fetched(new URL(input, origin), init),
})
for (const name of [
  'Element',
  'HTMLElement',
  'SVGElement',
  'Node',
  'Text',
  'Comment',
  'Event',
  'MathMLElement',
  'ShadowRoot',
])
  globalThis[name] ??= window[name]

after(async () => {
  server.close()
  await window.happyDOM.close()
})
before(() => {
  document.body.innerHTML = '<div id="vue"></div><div id="solid"></div>'
})

/** Waits until a text appears, or until the test has ended. */
async function until({ signal }, read, expected) {
  while (read() !== expected) {
    signal.throwIfAborted()
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

test('Vue: refs follow the user, and all components share one request', { timeout: 60_000 }, async (test) => {
  const { createApp, h } = await import('vue')
  const { useUser } = await import('idp-client/vue')
  let invalidate
  const User = {
    setup() {
      const result = useUser()
      invalidate = result.invalidate
      return () => h('p', result.isLoading.value ? 'Loading' : (result.user.value?.name ?? 'signed out'))
    },
  }
  const app = createApp({ render: () => [h(User), h(User)] })
  const root = document.getElementById('vue')
  app.mount(root)
  assert.equal(root.textContent, 'LoadingLoading')
  await until(test, () => root.textContent, 'AliceAlice')
  assert.equal(requests, 1)
  signedIn = false
  await invalidate()
  await until(test, () => root.textContent, 'signed outsigned out')
  app.unmount()
  signedIn = true
})

test('Vue: a page hydrates as the server has rendered it, also with a user of configure', {
  timeout: 60_000,
}, async (test) => {
  const { createSSRApp, h } = await import('vue')
  const { configure } = await import('idp-client/browser')
  const { useUser } = await import('idp-client/vue')
  const warn = test.mock.method(console, 'warn', () => {})
  const User = {
    setup() {
      const { isLoading, user } = useUser()
      return () => (isLoading.value ? h('i', 'Loading') : h('p', user.value?.name ?? 'signed out'))
    },
  }
  const root = document.createElement('div')
  document.body.append(root)
  root.innerHTML = '<i>Loading</i>'
  const before = requests
  configure({ user: alice })
  const app = createSSRApp(User)
  app.mount(root)
  await until(test, () => root.innerHTML, '<p>Alice</p>')
  assert.equal(warn.mock.callCount(), 0)
  assert.equal(requests, before)
  app.unmount()
  configure({})
})

test('Svelte: the store calls back with each state, and ends with its subscriptions', {
  timeout: 60_000,
}, async (test) => {
  const { get } = await import('svelte/store')
  const { useUser } = await import('idp-client/svelte')
  const account = useUser({ route: '/svelte' })
  assert.equal(get(account).isLoading, true)
  const states = []
  const unsubscribe = account.subscribe(({ isLoading, user }) =>
    states.push(isLoading ? 'loading' : user?.name),
  )
  await until(test, () => states.at(-1), 'Alice')
  assert.equal(states[0], 'loading')
  unsubscribe()
  const count = states.length
  await account.invalidate()
  assert.equal(states.length, count)
})

test('Solid: signals follow the user', { timeout: 60_000 }, async (test) => {
  const { createEffect, createRoot } = await import('solid-js')
  const { useUser } = await import('idp-client/solid')
  const seen = []
  let invalidate
  const dispose = createRoot((end) => {
    const result = useUser({ route: '/solid' })
    invalidate = result.invalidate
    createEffect(() => seen.push(result.isLoading() ? 'loading' : (result.user()?.name ?? 'signed out')))
    return end
  })
  await until(test, () => seen.at(-1), 'Alice')
  assert.equal(seen[0], 'loading')
  signedIn = false
  await invalidate()
  await until(test, () => seen.at(-1), 'signed out')
  dispose()
  signedIn = true
})

test('mockUser: what components show without requests', { timeout: 60_000 }, async () => {
  const { mockUser } = await import('idp-client/testing/browser')
  const { createApp, h, nextTick } = await import('vue')
  const { get } = await import('svelte/store')
  const { createRoot } = await import('solid-js')
  const vue = (await import('idp-client/vue')).useUser
  const svelte = (await import('idp-client/svelte')).useUser
  const solid = (await import('idp-client/solid')).useUser
  function describe({ error, isLoading, user }) {
    if (isLoading) return 'loading'
    return error ? `failed with ${error.status}` : (user?.name ?? 'signed out')
  }

  async function show() {
    const element = document.createElement('div')
    const app = createApp({
      setup() {
        const { error, isLoading, user } = vue()
        return () => h('p', describe({ error: error.value, isLoading: isLoading.value, user: user.value }))
      },
    })
    app.mount(element)
    await nextTick()
    const inVue = element.textContent
    app.unmount()
    const inSolid = createRoot((dispose) => {
      const { error, isLoading, user } = solid()
      const text = describe({ error: error(), isLoading: isLoading(), user: user() })
      dispose()
      return text
    })
    return [inVue, describe(get(svelte())), inSolid]
  }

  const before = requests
  for (const [state, text] of [
    [{ user: alice }, 'Alice'],
    [{ user: null }, 'signed out'],
    [{ isLoading: true }, 'loading'],
    [{ failedWith: 503 }, 'failed with 503'],
  ]) {
    const restore = mockUser(state)
    assert.deepEqual(await show(), [text, text, text])
    restore()
  }
  assert.equal(requests, before)
})
