import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fromRoot, must } from '../../tools/lib/run.mjs'
import { cacheFolder } from './program.mjs'

const unpackGoal = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:unpack'

const maven = (...args) =>
  must('mvn', ['--batch-mode', '--quiet', ...args], { cwd: fromRoot('interop/spring') })

/** Unpacks an archive of Maven Central into the cache folder, unless `folder` is there already; returns its path. */
export async function unpackArtifact(artifact, folder) {
  const path = join(cacheFolder, folder)
  if (!existsSync(path)) await maven(unpackGoal, `-Dartifact=${artifact}`, `-DoutputDirectory=${cacheFolder}`)
  return path
}

/** Builds the project in `interop/spring`; returns the path of the archive that runs. */
export async function packageSpring() {
  const folder = join(cacheFolder, 'spring')
  await maven('package', `-Dinterop.build=${folder}`)
  return join(folder, 'interop-spring.jar')
}
