import type { Application } from './application.ts'
import { readNames } from './application.ts'
import type { GuideFile } from './guides.ts'

/** Names of files and folders with the sources of an application, as Nuxt looks for them. */
const SOURCES = ['app.vue', 'App.vue', 'assets', 'layouts', 'middleware', 'pages', 'plugins']

/** Whether a file in `app` may also be there if the sources are in the root folder. */
const isNeutral = (name: string): boolean =>
  name === 'spa-loading-template.html' || name.startsWith('router.options')

/**
 * Fits the printed files to an application whose sources are in the root folder, as Nuxt 3 had them. Nuxt 4 looks there only while
 * `app` has no sources: a page in it would hide all pages of the application.
 */
export async function fitToNuxt(
  files: readonly GuideFile[],
  { entries, folder }: Application,
): Promise<GuideFile[]> {
  const hasApp = !(await readNames(folder, 'app')).every(isNeutral)
  const isInRoot = !hasApp && entries.some((name) => SOURCES.includes(name))
  return files.map((file) => (isInRoot ? { ...file, path: file.path.replace(/^app\//, '') } : file))
}
