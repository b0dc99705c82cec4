import { IdpClient as ExpressClient } from 'idp-client/express'
import { IdpClient as NextClient } from 'idp-client/next'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { IdpClient } from '../../src/index.ts'

const options = {
  domain: 'idp.example.com',
  clientId: 'client',
  clientSecret: 'secret-of-client',
  secret: '0123456789abcdef0123456789abcdef',
}

const hosts = [
  ['idp-client', IdpClient],
  ['idp-client/next', NextClient],
  ['idp-client/express', ExpressClient],
] as const

/** The globals of a page: a document, and at most a bundler's stand-in for `process`. */
function asInAPage(process?: object): void {
  vi.stubGlobal('document', { title: 'page' })
  vi.stubGlobal('process', process)
}

afterEach(() => vi.unstubAllGlobals())

describe('[J4] a client in a browser', () => {
  test.each(hosts)('of %s throws an error that names useUser', (_, Client) => {
    asInAPage({ env: {}, versions: {} })
    const warn = vi.spyOn(console, 'warn')
    const construct = (): unknown => new Client()
    expect(construct).toThrowError(
      /^IdpClient works on the server only: in client components call useUser from 'idp-client\/react'\. /,
    )
    expect(construct).toThrowError(
      expect.objectContaining({ name: 'InvalidConfigurationError', code: 'SERVER_ONLY' }),
    )
    expect(warn).not.toHaveBeenCalled()
  })

  test('throws without any process object, and with complete options', () => {
    asInAPage()
    expect(() => new IdpClient(options)).toThrowError('useUser')
  })
})

describe('[J4] a client with a document but without a browser', () => {
  test('works in Node.js with the document of a test environment', () => {
    vi.stubGlobal('document', { title: 'test' })
    expect(() => new IdpClient(options)).not.toThrow()
  })

  test('works in an edge runtime', () => {
    asInAPage({ env: {} })
    vi.stubGlobal('EdgeRuntime', 'edge-runtime')
    expect(() => new IdpClient(options)).not.toThrow()
  })

  test('works in a worker, which has neither document nor process', () => {
    vi.stubGlobal('process', undefined)
    expect(() => new IdpClient(options)).not.toThrow()
  })
})
