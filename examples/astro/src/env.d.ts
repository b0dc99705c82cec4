declare namespace App {
  interface Locals {
    readonly idpSession: import('idp-client/astro').SessionData | null
  }
}
