/** A file that a guide prints. */
export interface GuideFile {
  readonly path: string
  readonly text: string
  /** SHA-256 of each version that an official starter created and that the guide replaces. */
  readonly starter: readonly string[]
}

/** The application that the guide of a host prints. */
export interface Guide {
  readonly title: string
  /** Path of the page in the repository. */
  readonly page: string
  /** Dependencies that only applications of this host have. */
  readonly packages: readonly string[]
  /** Names, without extension, of files that only applications of this host have. */
  readonly configs: readonly string[]
  /** Whether its files need an application of the official starter; otherwise an empty folder is sufficient. */
  readonly needsStarter: boolean
  /** The range of the first package that the guide was tested with. */
  readonly tested: string
  /** Further packages, with the range that the guide was tested with. */
  readonly dependencies: Readonly<Record<string, string>>
  /** Base URL of the application in development. */
  readonly app: string
  readonly envFile: string
  /** The command that starts the application in development. */
  readonly development: string
  readonly files: readonly GuideFile[]
}

/** The page of a provider, for its users. */
export interface ProviderPage {
  readonly title: string
  readonly page: string
  /** The value of `IDP_DOMAIN`, in words. */
  readonly domain: string
}

export interface InitData {
  readonly guides: Readonly<Record<string, Guide>>
  readonly providers: Readonly<Record<string, ProviderPage>>
}

/** Loads the guides as data; the build packs them. */
export const loadInitData = (): Promise<InitData> => import('#init-data')

/** The address of a page for readers. */
export const toPageUrl = (page: string): string =>
  `https://github.com/idp-client/idp-client/blob/main/${page}`
