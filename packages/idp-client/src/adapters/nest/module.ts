import type { DynamicModule, FactoryProvider } from '@nestjs/common'
import { Inject, Module } from '@nestjs/common'
import { HttpAdapterHost } from '@nestjs/core'
import type { IdpClientOptions } from '../../config/options.ts'
import { invalidAtStart } from '../../errors/configuration.ts'
import { IdpClient, MOUNT_LINE } from './client.ts'
import type { PlatformServer } from './early-middleware.ts'

/** Marks the host of an application that has the module. */
const MOUNTED = Symbol('idp-client')

/** Number of modules that were created. */
let created = 0

/** Options of `IdpModule.forRootAsync`. */
export interface IdpModuleAsyncOptions<Dependencies extends unknown[] = never> {
  /** Modules whose providers `inject` names. */
  imports?: DynamicModule['imports']
  /** Providers that are passed to `useFactory`. */
  inject?: FactoryProvider['inject']
  /** Returns the options of the client. */
  useFactory(...dependencies: Dependencies): IdpClientOptions | Promise<IdpClientOptions>
}

/**
 * Provides `IdpClient` to all modules, serves the auth routes and extends sessions. Import it once, in the root module.
 *
 * @example
 * \@Module({ imports: [IdpModule.forRoot()] })
 * export class AppModule {}
 */
export class IdpModule {
  readonly #client: IdpClient
  readonly #host: HttpAdapterHost

  /** @internal */
  constructor(client: IdpClient, host: HttpAdapterHost) {
    this.#client = client
    this.#host = host
    this.#attach()
    // Tests (`Test.createTestingModule`) create modules before the server.
    host.init$?.subscribe(() => this.#attach())
  }

  /** Returns the server, if there is one. */
  #attach(): PlatformServer | undefined {
    const server = this.#host.httpAdapter?.getInstance<PlatformServer>()
    if (server) this.#client.early.attach(server)
    return server
  }

  /** @internal Nest calls it after body parsers and global middleware, and before it mounts the middleware of modules. */
  configure(): void {
    if (MOUNTED in this.#host) {
      const detail = `IdpModule is imported twice, so that an application would have two clients. Import it once: ${MOUNT_LINE}`
      throw invalidAtStart(detail)
    }
    Object.assign(this.#host, { [MOUNTED]: true })
    const server = this.#attach()
    if (server) this.#client.mount(server)
  }

  /** Creates the client with the given options, and those from variables. */
  static forRoot(options?: IdpClientOptions): DynamicModule {
    return IdpModule.forRootAsync({ useFactory: () => options ?? {} })
  }

  /** Creates the client with options from other providers, such as `ConfigService`. */
  static forRootAsync<Dependencies extends unknown[]>({
    imports = [],
    inject = [],
    useFactory,
  }: IdpModuleAsyncOptions<Dependencies>): DynamicModule {
    const createClient = async (...dependencies: Dependencies): Promise<IdpClient> =>
      new IdpClient(await useFactory(...dependencies))
    return {
      module: IdpModule,
      global: true,
      imports,
      // NestJS 10 takes modules for one if their providers look the same, and would drop the options of all but one.
      providers: [
        { provide: IdpClient, inject, useFactory: createClient },
        { provide: Symbol(`IdpModule ${++created}`), useValue: true },
      ],
      exports: [IdpClient],
    }
  }
}
Inject(IdpClient)(IdpModule, undefined, 0)
Inject(HttpAdapterHost)(IdpModule, undefined, 1)
Module({})(IdpModule)
