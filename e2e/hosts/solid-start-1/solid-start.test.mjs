// Tests of server functions, in the production build.
import { testServerFunctions } from './support/server-functions.mjs'

testServerFunctions(['.output/server/index.mjs'])
