import type { ClientAuth } from 'oauth4webapi'
import type { Config } from '../config/config.ts'
import { identify } from '../lib/identify.ts'
import { lazyPromise } from '../lib/lazy.ts'
import { Lru } from '../lib/lru.ts'
import { processWide, toKey } from '../lib/registry.ts'
import { reportFailure } from '../log/failure.ts'
import type { DocumentSource, Renewal, TokenSender } from './cached-document.ts'
import { CachedDocument } from './cached-document.ts'
import { clientAuthentications } from './client-auth.ts'
import type { Dpop } from './dpop.ts'
import type { ProviderFetch } from './fetch.ts'
import { providerFetch } from './fetch.ts'
import { parseObject } from './json.ts'
import type { KeySet } from './keys.ts'
import { readKeySet } from './keys.ts'
import type { ServerMetadata } from './metadata.ts'
import { discoveryUrl, readMetadata, requireEndpoint } from './metadata.ts'
import type { DocumentRequest } from './translate.ts'
import { discoveryError, unusableDocument } from './translate.ts'

/** One client at one provider: the first argument of every protocol operation. */
export interface Provider {
  readonly config: Config
  readonly send: ProviderFetch
  /** Returns the proofs of the client, whose code is loaded on first use. */
  dpop(): Promise<Dpop>
  /** Returns the authentication method of the client, the same at every endpoint. */
  authentication(metadata: ServerMetadata): ClientAuth
  /**
   * Returns the provider's metadata, from the cache of the process (600 s; older while the provider is down). Throws
   * `DiscoveryError`.
   */
  metadata(): Promise<ServerMetadata>
  /** Returns the provider's signing keys, cached in the same way. Throws `DiscoveryError`. */
  keys(): Promise<KeySet>
  /**
   * Returns newer keys than `seen`, which do not verify a token of this sender, unless the last reload for such a token is
   * too recent. Throws `DiscoveryError`.
   */
  newerKeys(seen: KeySet, sender: TokenSender): Promise<Renewal<KeySet>>
}

/** Maximum number of provider documents that are cached. A client has two: metadata and keys. */
const MAX_DOCUMENTS = 1000

const documents = (): Lru<string, CachedDocument<unknown>> =>
  processWide('cache:provider-documents/8', () => new Lru(MAX_DOCUMENTS))

/**
 * Returns the cached document with this key. Two `fetch` functions may load different documents, so `fetch` is part
 * of the key; the cache does not keep it alive.
 *
 * @param kind type of the document
 */
function cachedDocument<T>(
  kind: 'metadata' | 'keys',
  { allowInsecureRequests, fetch }: Config,
  ...parts: readonly unknown[]
): CachedDocument<T> {
  const key = toKey(kind, identify(fetch), allowInsecureRequests, ...parts)
  const document = documents().get(key) ?? new CachedDocument<unknown>()
  documents().set(key, document)
  return document as CachedDocument<T>
}

/** Creates the provider of a configuration. No I/O happens before the first use. */
export function createProvider(config: Config): Provider {
  const { clock, httpTimeout: patience, provider } = config
  const send = providerFetch(config)
  const report = (error: unknown): void => reportFailure(config.log, error)

  async function load<T>(request: DocumentRequest, url: string, read: (text: string) => T): Promise<T> {
    try {
      const { response, text } = await send(url, { headers: { accept: 'application/json' } })
      if (response.status !== 200) throw unusableDocument(request, response.status)
      return read(text)
    } catch (thrown) {
      throw discoveryError(request, thrown)
    }
  }

  const url = discoveryUrl(provider)
  const ofDiscovery = { endpoint: 'discovery', url } as const

  function readDiscovery(text: string): ServerMetadata {
    const document = parseObject(text)
    if (!document) throw unusableDocument(ofDiscovery, 200)
    return readMetadata(document, config)
  }

  const toSource = <T>(load: () => Promise<T>): DocumentSource<T> => ({ clock, report, patience, load })
  const discovery = toSource(() => load(ofDiscovery, url, readDiscovery))
  const document = cachedDocument<ServerMetadata>('metadata', config, provider.url, provider.issuers)
  const metadata = (): Promise<ServerMetadata> => document.read(discovery)

  async function getKeyDocument(): Promise<[CachedDocument<KeySet>, DocumentSource<KeySet>]> {
    const address = requireEndpoint(await metadata(), 'jwksUri')
    const source = toSource(() => load({ endpoint: 'jwks' }, address, readKeySet))
    return [cachedDocument<KeySet>('keys', config, address), source]
  }

  return {
    config,
    send,
    dpop: lazyPromise(async () => {
      const { createDpop } = await import('./dpop.ts')
      return createDpop(config)
    }),
    authentication: clientAuthentications(config),
    metadata,
    async keys() {
      const [document, source] = await getKeyDocument()
      return document.read(source)
    },
    async newerKeys(seen, sender) {
      const [document, source] = await getKeyDocument()
      return document.renew(seen, source, sender)
    },
  }
}

const providers = new WeakMap<Config, Provider>()

/** Returns the one provider of a configuration, created at the first call. */
export function getProvider(config: Config): Provider {
  const provider = providers.get(config) ?? createProvider(config)
  providers.set(config, provider)
  return provider
}
