import type { Settings } from './config.ts'

/**
 * Reports, once per process, that a framework serves the application below a path that the base path does not name. Only
 * for frameworks that do not remove their path from the requests that they pass on.
 *
 * @param base as the framework's configuration has it: `/shop` or `/shop/`; `/`, a relative path or none is no base.
 */
export function reportFrameworkBase(
  { basePath, log }: Pick<Settings, 'basePath' | 'log'>,
  base: string | undefined,
): void {
  if (base === undefined || base === basePath || base === '/' || !base.startsWith('/')) return
  const path = base.replace(/\/+$/, '')
  if (path === basePath) return
  log.once(
    `The framework serves the application below ${path}, which the base path does not name, so requests miss the auth ` +
      `routes and redirects miss the application. Set FRAMEWORK_PUBLIC_BASE_PATH=${path}, and only the origin in ` +
      'appBaseUrl (APP_BASE_URL).',
    'BASE_PATH_MISSING',
  )
}
