/** Most bytes that load with an entry (`./errors`: one sentence for each of its codes), minified and compressed with gzip. */
export const budgets = {
  // Some 500 of them find a session among several, and end all that a request carries; 500 read every calling style;
  // 1400 refuse addresses that cannot be, and report what does not fit the host; 1500 name the remedy of each failure; 400
  // choose how the client authenticates; 300 keep what a session has no room for; 800 keep no request reachable, and hold
  // what processes that do not last may do; 200 give applications a copy of the session; 300 keep apart what an
  // application and a login link requested.
  '.': 45_800,
  // Needed at once: the user's state, the paths, the window that opens in a click. Requests load later.
  './browser': 2_000,
  './react': 3_000,
  './errors': 4_300,
  // Of each store some 2.8 kB are the table of codes, in a chunk that every application has loaded already. Their own
  // code has 1.3, 1.8 and 2.4 kB, the last for the most part SQL.
  './stores/memory': 4_600,
  './stores/redis': 5_100,
  './stores/postgres': 5_700,
}

/** Most bytes that an entry may load later, when something is first used. */
export const lazyBudgets = {
  // Requests to the routes, messages of other tabs, tokens, multi-factor authentication, popups: in two files, a tenth more.
  './browser': 3_500,
  './react': 3_500,
  './errors': 0,
  './stores/memory': 0,
  './stores/redis': 0,
  './stores/postgres': 0,
}

/** Everything the library may pull into an application at run time. */
export const dependencies = ['cookie', 'jose', 'oauth4webapi']

/** Entries for the browser must not contain these packages, nor any module of Node. */
export const browserEntries = ['./browser', './react', './errors']
export const serverPackages = ['jose', 'oauth4webapi', 'cookie']

/** Stores take their driver as an argument: they contain no package at all, and no module of Node. */
export const storeEntries = ['./stores/memory', './stores/redis', './stores/postgres']

/** The hosts: only the entry named may import the package. */
export const hosts = { next: './next', express: './express', react: './react' }

/** Modules of Node that may be reached when the package is resolved for Node; none may for other runtimes. */
export const nodeModules = ['node:async_hooks', 'node:buffer', 'node:crypto']
