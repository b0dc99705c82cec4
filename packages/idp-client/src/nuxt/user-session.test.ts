import { expect, test } from 'vitest'
import type { NuxtApp } from '#imports'
import { navigateTo } from '../../test/support/nuxt-imports.ts'
import { createPage } from '../browser/page.ts'
import type { UserSession } from './user-session.ts'
import { createUserSession } from './user-session.ts'

/** An application below a base path that shows a page; Vue's router adds the base path to every path. */
function application(basePath: string, fullPath: string): UserSession {
  const page = createPage({ basePath })
  const app: NuxtApp = {
    $router: {
      currentRoute: { value: { fullPath } },
      resolve: (path) => ({ href: basePath.replace(/\/$/, '') + path }),
    },
    $userSession: undefined,
    hooks: { hookOnce: () => undefined },
    payload: {},
    runWithContext: (run) => run(),
  }
  return createUserSession({ app, logoutUrl: page.urls.locate('/auth/logout'), page })
}

/** Returns where `login` or `logout` sends the browser. */
async function send(
  name: 'login' | 'logout',
  { base = '/', shown = '/shown?a=b' },
  returnTo?: unknown,
): Promise<unknown> {
  navigateTo.mockClear()
  await application(base, shown)[name](returnTo as string)
  expect(navigateTo).toHaveBeenCalledExactlyOnceWith(expect.any(String), { external: true })
  const [target, query] = String(navigateTo.mock.lastCall?.[0]).split('?returnTo=')
  return query === undefined ? [target] : [target, decodeURIComponent(query)]
}

test.each([
  ['/', '/', '/'],
  ['/', '/orders?page=2#last', '/orders?page=2#last'],
  ['/shop/', '/', '/shop/'],
  ['/shop/', '/orders', '/shop/orders'],
  ['/shop/', '/shop', '/shop'],
  ['/shop/', '/shop/orders', '/shop/orders'],
  ['/shop/', '/shopping', '/shop/shopping'],
  ['/shop', '/orders', '/shop/orders'],
])('below %s the path %s is returned to as %s', async (base, path, returnTo) => {
  const prefix = base.replace(/\/$/, '')
  expect(await send('login', { base }, path)).toEqual([`${prefix}/auth/login`, returnTo])
  expect(await send('logout', { base }, path)).toEqual([`${prefix}/auth/logout`, returnTo])
})

test.each([
  undefined,
  null,
  new Event('click'),
  ['/orders'],
  '',
  'orders',
  '?page=2',
  'https://evil.example',
  'https:/evil.example',
  'javascript:alert(1)',
  '//evil.example',
  '/\\evil.example',
  '/\t/evil.example',
  '/\n/evil.example',
  ' //evil.example',
])('anything but a path is not returned to, but the default: %j', async (argument) => {
  expect(await send('login', {}, argument)).toEqual(['/auth/login', '/shown?a=b'])
  expect(await send('login', { base: '/shop/' }, argument)).toEqual(['/shop/auth/login', '/shop/shown?a=b'])
  expect(await send('logout', {}, argument)).toEqual(['/auth/logout'])
  expect(await send('logout', { base: '/shop/' }, argument)).toEqual(['/shop/auth/logout'])
})

test('a page whose path starts like the base path is returned to', async () => {
  const current = { base: '/shop/', shown: '/shop/orders' }
  expect(await send('login', current)).toEqual(['/shop/auth/login', '/shop/shop/orders'])
})
