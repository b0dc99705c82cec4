import type { SessionData } from 'idp-client/sveltekit'

declare global {
  namespace App {
    interface Locals {
      readonly idpSession: SessionData | null
    }
  }
}
