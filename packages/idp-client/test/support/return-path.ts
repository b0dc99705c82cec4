import type { SafeReturnPath } from '../../src/http/return-path.ts'
import { safeReturnPath } from '../../src/http/return-path.ts'

/** Returns a path of the application under test. Throws for any other target. */
export function returnPath(path: string): SafeReturnPath {
  const safe = safeReturnPath(path, 'https://app.example.com')
  if (safe === null) throw new Error(`${path} is not a return path`)
  return safe
}

/** Values that a sealed `returnTo` must not have: targets on another origin, and values that are not a path. */
export const HOSTILE_RETURN_PATHS: readonly unknown[] = [
  'https://evil.example/',
  '//evil.example/',
  '///evil.example/',
  '/\\evil.example/',
  '\\\\evil.example/',
  '\\/evil.example/',
  '/\t/evil.example/',
  '/\n/evil.example/',
  '/\r\\evil.example/',
  '\u0000//evil.example/',
  'javascript:alert(1)',
  'data:text/html,x',
  `/${'x'.repeat(2048)}`,
  '',
  null,
  true,
  1,
  ['/orders'],
  { toString: '/orders' },
]
