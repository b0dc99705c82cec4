import type { ClientAuth } from 'oauth4webapi'
import type { ApiConfig, Config } from '../config/config.ts'
import type { MaybePromise } from '../lib/chain.ts'
import { chain } from '../lib/chain.ts'
import type { Clock } from '../lib/clock.ts'
import { Lru } from '../lib/lru.ts'
import { perObject, processWideFor, toKey } from '../lib/registry.ts'
import { SingleFlight } from '../lib/shared-run.ts'
import { reportFailure } from '../log/failure.ts'
import type { ProviderFetch } from './call.ts'
import { providerFetch } from './call.ts'
import { clientAuthentications } from './client-auth.ts'
import type { Dpop } from './dpop.ts'
import { createDpop } from './dpop.ts'
import { parseObject } from './json.ts'
import type { EndpointName, ServerMetadata } from './metadata.ts'
import { discoveryUrl, readMetadata, requireEndpoint } from './metadata.ts'
import type { KeySet } from './signed-token.ts'
import { readKeySet } from './signed-token.ts'
import type { DocumentRequest } from './translate.ts'
import { discoveryError, unusableDocument } from './translate.ts'

/** Seconds for which a loaded value is used without another request. */
const LIFETIME = 600
/** Seconds between attempts while loading fails and the old value is used. */
const RETRY_PAUSE = 30
/** Seconds between reloads by `renew` for tokens of the provider, and after a failed one. */
const RENEW_PAUSE = 5
/** Seconds between reloads by `renew` for tokens that anyone can send. */
const UNTRUSTED_RENEW_PAUSE = 60

/**
 * The sender of a token that the loaded keys do not verify: `provider`, in a response to this client, `anyone`, since any
 * website can send a logout token, or `api-client`, for an access token at an API. Each has its own pause, so that strangers
 * cannot delay a reload for a login.
 */
export type TokenSender = 'provider' | 'anyone' | 'api-client'

/** The result of `renew`. Both times are in seconds. */
export interface Renewal<T> {
  /** A value that is newer than the one that was not sufficient; null if the last reload is too recent. */
  readonly newer: T | null
  /** Time since the last successful load. */
  readonly age: number
  /** Time until the next reload is possible. */
  readonly pause: number
}

export interface DocumentSource<T> {
  readonly clock: Clock
  readonly load: () => Promise<T>
  /** How long a caller waits for the load of another one before it loads itself, in milliseconds. */
  readonly patience: number
  /** Called for a failed load that was replaced by a stale value. */
  readonly report: (error: unknown) => void
}

/** A time span that begins at `at`. All times are in seconds. */
interface Pause {
  readonly at: number
  readonly seconds: number
}

// Clients in one process may have different clocks (tests do), so the difference may be negative.
const remaining = (pause: Pause | undefined, now: number): number =>
  pause ? Math.max(0, pause.seconds - Math.abs(now - pause.at)) : 0

/**
 * A cached document of the provider: loaded on demand, once for all concurrent callers, and again after 600 s. If
 * that fails, the cached value is returned; a failure is never cached.
 */
export class CachedDocument<T> {
  #held: { readonly value: T; readonly at: number } | undefined
  /* One at a time: all have the same key. */
  readonly #loads = new SingleFlight<T>()
  #retryPause: Pause | undefined
  readonly #renewPauses = new Map<TokenSender, Pause>()

  /** Returns the cached value, if it may be used without a request now. */
  fresh({ clock }: DocumentSource<T>): T | undefined {
    const held = this.#held
    if (!held) return undefined
    const now = clock()
    const isFresh =
      remaining({ at: held.at, seconds: LIFETIME }, now) > 0 || remaining(this.#retryPause, now) > 0
    return isFresh ? held.value : undefined
  }

  read(source: DocumentSource<T>): MaybePromise<T> {
    const fresh = this.fresh(source)
    if (fresh !== undefined) return fresh
    const held = this.#held
    return this.#load(source).catch((error: unknown) => {
      if (!held) throw error
      source.report(error)
      // Not from the start of the load: one that takes as long as the pause would be followed by the next one.
      this.#retryPause = { at: source.clock(), seconds: RETRY_PAUSE }
      return held.value
    })
  }

  /** Loads the value now, once for all concurrent callers. Throws what `load` throws; then the cached value stays. */
  reload(source: DocumentSource<T>): Promise<T> {
    return this.#load(source)
  }

  /** Reloads the value if it is still `seen`, which was not sufficient for a token of this sender. Throws what `load` throws. */
  async renew(seen: T, source: DocumentSource<T>, sender: TokenSender): Promise<Renewal<T>> {
    const newer = await this.#newer(seen, source, sender)
    const now = source.clock()
    const age = Math.abs(now - (this.#held?.at ?? now))
    return { newer, age, pause: remaining(this.#renewPauses.get(sender), now) }
  }

  async #newer(seen: T, source: DocumentSource<T>, sender: TokenSender): Promise<T | null> {
    if (this.#held && this.#held.value !== seen) return this.#held.value
    if (this.#loads.get('')) return this.#load(source)
    const at = source.clock()
    if (remaining(this.#renewPauses.get(sender), at) > 0) return null
    // A failure says nothing about the keys, and the token may be repeated as soon as the endpoint works again.
    this.#renewPauses.set(sender, { at, seconds: RENEW_PAUSE })
    const value = await this.#load(source)
    if (sender !== 'provider') this.#renewPauses.set(sender, { at, seconds: UNTRUSTED_RENEW_PAUSE })
    return value
  }

  #load(source: DocumentSource<T>): Promise<T> {
    const task = async (): Promise<T> => {
      const at = source.clock()
      const value = await source.load()
      this.#held = { value, at }
      return value
    }
    return this.#loads.run('', task, source.patience)
  }
}

/** The media types that a document may have. Some servers have keys only as their own type (RFC 7517 section 8.5.2), and refuse others. */
const ACCEPT: Readonly<Record<DocumentRequest['endpoint'], string>> = {
  discovery: 'application/json',
  jwks: 'application/json, application/jwk-set+json',
}

/** The documents of a provider. */
export interface ProviderDocuments {
  readonly metadata: ServerMetadata
  readonly keys: KeySet
}

/** A provider as it publishes itself, which an API without a client needs to know. */
export interface PublicProvider {
  readonly config: ApiConfig
  readonly send: ProviderFetch
  /**
   * Returns the provider's metadata, from the cache of the process (600 s; older while the provider is down). Throws
   * `DiscoveryError`.
   */
  metadata(): MaybePromise<ServerMetadata>
  /** Returns the provider's signing keys, cached in the same way. Throws `DiscoveryError`. */
  keys(): MaybePromise<KeySet>
  /** Returns metadata and keys if both may be used without a request now. */
  cached(): ProviderDocuments | undefined
  /**
   * Returns newer keys than `seen`, which do not verify a token of this sender, unless the last reload for such a token is
   * too recent. Throws `DiscoveryError`.
   */
  newerKeys(seen: KeySet, sender: TokenSender): Promise<Renewal<KeySet>>
  /** Loads metadata and keys now, whatever is cached. Throws `DiscoveryError`. */
  reload(): Promise<void>
}

/** One client at one provider: the first argument of every protocol operation. */
export interface Provider extends PublicProvider {
  readonly config: Config
  readonly dpop: Dpop
  /** Returns how the client authenticates at an endpoint; without one, as at the token endpoint. */
  authentication(metadata: ServerMetadata, endpoint?: EndpointName): ClientAuth
}

/** Maximum number of documents that are cached for a `fetch`. A client has two: metadata and keys. */
const MAX_DOCUMENTS = 1000

/**
 * Returns the cached document of this kind with these parts of a key. Two `fetch` functions may load different documents, so
 * each has its own, which do not keep it alive.
 */
function cachedDocument<T>(
  kind: 'metadata' | 'keys',
  { allowInsecureRequests, fetch }: ApiConfig,
  ...parts: readonly unknown[]
): CachedDocument<T> {
  const newDocuments = () => new Lru<string, CachedDocument<unknown>>(MAX_DOCUMENTS)
  const documents = processWideFor('cache:provider-documents/12', fetch, newDocuments)
  const key = toKey(kind, allowInsecureRequests, ...parts)
  const document = documents.get(key) ?? new CachedDocument<unknown>()
  documents.set(key, document)
  return document as CachedDocument<T>
}

/** The cached keys, and how they are loaded from their address. */
interface KeyDocument {
  readonly address: string
  readonly document: CachedDocument<KeySet>
  readonly source: DocumentSource<KeySet>
}

function createPublicProvider(config: ApiConfig): PublicProvider {
  const { clock, httpTimeout: patience, provider } = config
  const send = providerFetch(config)
  const report = (error: unknown): void => reportFailure(config.log, error)

  async function load<T>(request: DocumentRequest, url: string, read: (text: string) => T): Promise<T> {
    try {
      const { response, text } = await send(url, { headers: { accept: ACCEPT[request.endpoint] } })
      if (response.status !== 200) throw unusableDocument(request, response.status)
      return read(text)
    } catch (thrown) {
      throw discoveryError(request, thrown)
    }
  }

  const url = discoveryUrl(provider)
  const discoveryRequest = { endpoint: 'discovery', url } as const
  const toSource = <T>(load: () => Promise<T>): DocumentSource<T> => ({ clock, report, patience, load })
  const discovery = toSource(() =>
    load(discoveryRequest, url, (text) => {
      const document = parseObject(text)
      if (!document) throw unusableDocument(discoveryRequest, 200)
      return readMetadata(document, config)
    }),
  )
  const document = cachedDocument<ServerMetadata>('metadata', config, provider.url, provider.issuers)
  const metadata = (): MaybePromise<ServerMetadata> => document.read(discovery)

  let latest: KeyDocument | undefined

  function toKeyDocument(found: ServerMetadata): KeyDocument {
    const address = requireEndpoint(found, 'jwksUri')
    if (latest?.address === address) return latest
    const source = toSource(() => load({ endpoint: 'jwks' }, address, readKeySet))
    latest = { address, source, document: cachedDocument<KeySet>('keys', config, address) }
    return latest
  }

  return {
    config,
    send,
    metadata,
    keys: () =>
      chain(metadata(), (found) => {
        const { document, source } = toKeyDocument(found)
        return document.read(source)
      }),
    cached() {
      const found = document.fresh(discovery)
      if (!found?.jwksUri) return undefined
      const { document: held, source } = toKeyDocument(found)
      const keys = held.fresh(source)
      return keys && { metadata: found, keys }
    },
    async newerKeys(seen, sender) {
      const { document, source } = toKeyDocument(await metadata())
      return document.renew(seen, source, sender)
    },
    async reload() {
      const keys = toKeyDocument(await document.reload(discovery))
      await keys.document.reload(keys.source)
    },
  }
}

/** Creates the provider of a configuration. No I/O happens before the first use. */
export function createProvider(config: Config): Provider {
  const dpop = createDpop(config)
  return { ...createPublicProvider(config), config, dpop, authentication: clientAuthentications(config) }
}

/** Returns the one provider of a configuration, created at the first call. */
export const getProvider: (config: Config) => Provider = perObject(createProvider)

/** Returns the same without the client; documents are cached together. */
export const getPublicProvider: (config: ApiConfig) => PublicProvider = perObject(createPublicProvider)
