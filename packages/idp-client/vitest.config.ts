import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import workspace from '../../vitest.config.ts'

// In this folder `npx vitest run` runs the unit tests only; `--project flows` chooses the flow tests.
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: { ...workspace.test, project: 'unit' },
})
