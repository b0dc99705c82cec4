import { createHash } from 'node:crypto'

/** Returns letters and digits that no compression makes shorter, the same ones for every call. */
export function incompressible(length: number): string {
  let text = ''
  for (let block = 0; text.length < length; block++)
    text += createHash('sha512').update(`${block}`).digest('base64url').replaceAll(/[-_]/g, 'x')
  return text.slice(0, length)
}
