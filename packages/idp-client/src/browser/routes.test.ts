import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

type Module = typeof import('./routes.ts')

// Warnings are given once per process, so each test loads the module anew.
const load = async (): Promise<Module['resolveRoutes']> => (await import('./routes.ts')).resolveRoutes

beforeEach(() => {
  vi.resetModules()
})

afterEach(() => {
  vi.unstubAllEnvs()
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

describe('route URLs', () => {
  it('are the default routes without options', async () => {
    const resolveRoutes = await load()
    expect(resolveRoutes({})).toMatchObject({
      login: '/auth/login',
      profile: '/auth/profile',
      accessToken: '/auth/access-token',
    })
  })

  it.each([
    ['app', '/app/auth/profile'],
    ['/app', '/app/auth/profile'],
    ['/app/', '/app/auth/profile'],
    ['/a/b', '/a/b/auth/profile'],
    ['/', '/auth/profile'],
    ['', '/auth/profile'],
  ])('begin with the base path %j', async (basePath, profile) => {
    const resolveRoutes = await load()
    expect(resolveRoutes({ basePath }).profile).toBe(profile)
  })

  it.each([
    ['/app/me', '/app/me'],
    ['/app?x=1', '/app?x=1'],
    ['/app', '/app'],
    ['/app#x', '/app#x'],
    ['/apple/me', '/app/apple/me'],
    ['me', '/app/me'],
    ['https://api.example.com/me', 'https://api.example.com/me'],
    ['//api.example.com/me', '//api.example.com/me'],
  ])('contain the base path exactly once: %j', async (profile, expected) => {
    const resolveRoutes = await load()
    const urls = resolveRoutes({ basePath: '/app', routes: { profile } })
    expect(urls.profile).toBe(expected)
    expect(urls.locate(urls.profile)).toBe(expected)
  })

  it('prefer the prop, then NEXT_PUBLIC_*, then FRAMEWORK_PUBLIC_*', async () => {
    vi.spyOn(console, 'warn').mockImplementation(() => undefined)
    const resolveRoutes = await load()
    vi.stubEnv('FRAMEWORK_PUBLIC_LOGIN_ROUTE', '/framework')
    vi.stubEnv('FRAMEWORK_PUBLIC_PROFILE_ROUTE', '/framework-me')
    vi.stubEnv('FRAMEWORK_PUBLIC_BASE_PATH', '/base')
    vi.stubEnv('FRAMEWORK_PUBLIC_ACCESS_TOKEN_ROUTE', '/framework-token')
    expect(resolveRoutes({})).toMatchObject({
      login: '/base/framework',
      profile: '/base/framework-me',
      accessToken: '/base/framework-token',
    })

    vi.stubEnv('NEXT_PUBLIC_LOGIN_ROUTE', '/next')
    vi.stubEnv('NEXT_PUBLIC_PROFILE_ROUTE', '/next-me')
    vi.stubEnv('NEXT_PUBLIC_BASE_PATH', '/app')
    vi.stubEnv('NEXT_PUBLIC_ACCESS_TOKEN_ROUTE', '/next-token')
    expect(resolveRoutes({})).toMatchObject({
      login: '/app/next',
      profile: '/app/next-me',
      accessToken: '/app/next-token',
    })

    expect(resolveRoutes({ routes: { login: '/prop' }, basePath: '' })).toMatchObject({
      login: '/prop',
      profile: '/next-me',
    })
  })

  it('are the defaults in a browser without `process`', async () => {
    const resolveRoutes = await load()
    vi.stubGlobal('process', undefined)
    const urls = resolveRoutes({})
    vi.unstubAllGlobals()
    expect(urls.profile).toBe('/auth/profile')
  })
})

describe('the warning about variables that do not reach the browser', () => {
  it('is given once per variable and names both fixes', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
    const resolveRoutes = await load()
    vi.stubEnv('FRAMEWORK_PUBLIC_PROFILE_ROUTE', '/me')
    resolveRoutes({})
    resolveRoutes({})
    expect(warn).toHaveBeenCalledTimes(1)
    const text = String(warn.mock.calls[0]?.[0])
    expect(text).toContain('NEXT_PUBLIC_PROFILE_ROUTE')
    expect(text).toContain('pass routes.profile to <IdpProvider>')
  })

  it('is not given after either fix', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
    const resolveRoutes = await load()
    vi.stubEnv('FRAMEWORK_PUBLIC_PROFILE_ROUTE', '/me')
    resolveRoutes({ routes: { profile: '/me' } })
    vi.stubEnv('NEXT_PUBLIC_PROFILE_ROUTE', '/me')
    resolveRoutes({})
    expect(warn).not.toHaveBeenCalled()
  })
})
