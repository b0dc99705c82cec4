import { IdpClient } from 'idp-client/next'

// Every call refreshes, and the session is rolled every second: the two realms meet soon.
export const idp = new IdpClient({
  tokenRefreshBuffer: 3600,
  session: { inactivityDuration: 10 },
})
