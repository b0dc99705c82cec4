/** Most bytes that load with an entry, minified and compressed with gzip. */
export const budgets = { '.': 38_000, './react': 3_000, './errors': 2_000 }

/** Most bytes that an entry may load later, when something is first used: here the protocol, at the first login. */
export const lazyBudgets = { '.': 38_000, './react': 0, './errors': 0 }

/** Everything the library may pull into an application at run time. */
export const dependencies = ['cookie', 'jose', 'openid-client']

/** What reaches the browser must not contain these packages, nor any module of Node. */
export const browserEntries = ['./react', './errors']
export const serverPackages = ['jose', 'openid-client', 'oauth4webapi', 'cookie']

/** The hosts: only the entry named may import the package. */
export const hosts = { next: './next', express: './express', react: './react' }

/** Modules of Node that may be reached when the package is resolved for Node; none may for other runtimes. */
export const nodeModules = ['node:async_hooks', 'node:buffer', 'node:crypto']
