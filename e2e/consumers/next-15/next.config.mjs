/** The cache of a build costs more time than it saves the second one. */
const webpack = (config) => Object.assign(config, { cache: false })

/** Only the first build lists the files that each page loads, which takes a third of it. */
const outputFileTracingExcludes = process.env.OMIT_TRACES === '1' ? { '*': ['**/*'] } : {}

export default { outputFileTracingExcludes, webpack }
