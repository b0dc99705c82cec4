// Preloaded: registers a loader hook that changes nothing, as tools for application monitoring do.
import { register } from 'node:module'

register('./loader-hook.mjs', import.meta.url)
