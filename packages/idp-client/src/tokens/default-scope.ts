import type { AuthorizationConfig } from '../config/config.ts'

export const OFFLINE_ACCESS = 'offline_access'

/** Whether the default scope is the configured one of an audience (default: the configured audience). */
export function usesDefaultScope(
  { audience: configured, scope }: AuthorizationConfig,
  audience: string | undefined = configured,
): boolean {
  if (scope.kind !== 'map') return scope.kind === 'default'
  return audience === undefined || !scope.byAudience.has(audience)
}
