import { test as base } from '@playwright/test'
import { idpFixtures } from 'idp-client/playwright'

export { expect } from '@playwright/test'
export const test = base.extend(idpFixtures)
