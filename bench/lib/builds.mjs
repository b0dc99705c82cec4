// The builds of idp-client that are measured: that of this repository, and with `--against` another one, in the order of loading.
const names = (process.env.BENCH_BUILDS ?? 'idp-client').split(' ')

/** @type {readonly { name: string, Web: Function, Next: Function, Express: Function, memoryStore: Function }[]} */
export const builds = await Promise.all(
  names.map(async (name) => ({
    name,
    Web: (await import(name)).IdpClient,
    Next: (await import(`${name}/next`)).IdpClient,
    Express: (await import(`${name}/express`)).IdpClient,
    memoryStore: (await import(`${name}/stores/memory`)).memoryStore,
  })),
)

/** The build of this repository. */
export const current = builds.find(({ name }) => name === 'idp-client')
