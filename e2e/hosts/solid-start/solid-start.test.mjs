// Tests of server functions, in the production build.
import { testServerFunctions } from './support/server-functions.mjs'

testServerFunctions(['node-24.mjs', '.output/server/index.mjs'])
