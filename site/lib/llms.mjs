import { repository } from './places.mjs'

/**
 * The files for AI tools: `llms.txt` as in the repository, and `llms-full.txt` with all pages that it lists.
 *
 * @param {ReturnType<import('../../tools/lib/contents.mjs').parseContents>} contents
 * @param {(path: string) => string} readText reads a file of the repository
 */
export function llmsFiles(contents, readText) {
  const paths = [...new Set(contents.flatMap(({ entries }) => entries.map(({ page }) => page)))]
  const [introduction] = readText('llms.txt').split('\n## ')
  const pages = paths.map((path) => `\n---\n\nSource: ${repository}/blob/main/${path}\n\n${readText(path)}`)
  return { 'llms.txt': readText('llms.txt'), 'llms-full.txt': introduction + pages.join('') }
}
