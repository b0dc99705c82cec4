import type { IdpClientOptions } from '../../src/index.ts'
import { APP, SECRET } from './next-support.ts'

/** Options of a client whose provider no test requests. */
export const clientOptions: IdpClientOptions = {
  domain: 'idp.example',
  clientId: 'app',
  clientSecret: 'client-secret',
  secret: SECRET,
  appBaseUrl: APP,
  logger: () => {},
}
