// The applications are built below `bench/`, where their dependencies are installed.
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

export default { outputFileTracingRoot: root, turbopack: { root } }
