/** The cache of a build costs more time than it saves the second one. */
const webpack = (config) => Object.assign(config, { cache: false })

/** Only the first build lists the files that each page loads, which takes half of it. */
const outputFileTracing = process.env.OMIT_TRACES !== '1'

export default { outputFileTracing, webpack }
