// The template of create-next-app loads its fonts from the internet, in `next build` as well.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

const fonts = Object.fromEntries(
  ['Geist', 'Geist Mono'].map((family) => [
    `https://fonts.googleapis.com/css2?family=${family.replace(' ', '+')}:wght@100..900&display=swap`,
    `@font-face { font-family: '${family}'; src: local('DejaVu Sans') }`,
  ]),
)

/**
 * Writes a file to a folder with responses for these fonts. Returns the variable that makes Next.js use it.
 *
 * @param {string} folder
 * @returns {Record<string, string>}
 */
export function writeFonts(folder) {
  const file = join(folder, 'fonts.cjs')
  writeFileSync(file, `module.exports = ${JSON.stringify(fonts)}`)
  return { NEXT_FONT_GOOGLE_MOCKED_RESPONSES: file }
}
