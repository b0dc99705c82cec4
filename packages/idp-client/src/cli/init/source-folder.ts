import type { Application } from './application.ts'
import { readText } from './application.ts'
import type { Guide } from './guides.ts'

/** An option of a framework for the folder of the sources, with its value if that is a plain string. */
const OPTION = /^\s*(srcDir|appDirectory)\s*:\s*(?:(['"])(?:\.\/)?([\w./-]*?)\/?\2)?/m

/** Notes that the configuration of the framework has its sources elsewhere than the files of the guide. */
export async function findMovedSources(
  { entries, folder }: Application,
  { configs, files }: Guide,
): Promise<readonly string[]> {
  const isUsual = (path: string | undefined): boolean =>
    path === '' || path === '.' || files.some((file) => file.path.startsWith(`${path}/`))
  const names = entries.filter((entry) => configs.some((name) => entry.startsWith(`${name}.`)))
  const texts = await Promise.all(names.map((name) => readText(folder, name)))
  return names.flatMap((name, index) => {
    const [, option, , path] = OPTION.exec(texts[index] ?? '') ?? []
    if (option === undefined || isUsual(path)) return []
    return [`${name} sets ${option}: move the new files to the folder that it names.`]
  })
}
