import type { Settings } from '../../config/config.ts'
import { reportFrameworkBase } from '../../config/framework-base.ts'

// SvelteKit's Vite plugin replaces this name by `paths.base` in everything that it bundles; elsewhere it is not defined.
declare const __SVELTEKIT_PATHS_BASE__: string | undefined

/** Reports a `paths.base` that the base path does not name. */
export function reportPathsBase(settings: Settings): void {
  reportFrameworkBase(
    settings,
    typeof __SVELTEKIT_PATHS_BASE__ === 'string' ? __SVELTEKIT_PATHS_BASE__ : undefined,
  )
}
