import { inject } from 'vitest'
import type { BuildName } from './builds.ts'

/**
 * Returns the folder of an application that is built once for all test files.
 *
 * @throws with the output of the build if that failed
 */
export async function builtFolder(name: BuildName): Promise<string> {
  const response = await fetch(`${inject('builds')}/${name}`)
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return text
}
