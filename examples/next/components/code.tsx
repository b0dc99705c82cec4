import { cacheLife } from 'next/cache'
import { readSource } from '../lib/source'
import { ShowCode } from './show-code'

/** The fold with the code of a page. Read once; the result is part of the prerendered page. */
export async function Code({ files }: { files: readonly string[] }) {
  'use cache'
  cacheLife('max')
  return <ShowCode files={await Promise.all(files.map(readSource))} />
}
