import type { Env } from './env.ts'
import type { IdpClientOptions } from './options.ts'
import type { AddIssue, Field } from './readers.ts'
import { field, invalid, isPresent, toName, waysToSet } from './readers.ts'

const shortest = 32

function isWeak(secret: string): boolean {
  return secret.length < shortest || new Set(secret).size === 1
}

/** A comma may be part of one secret: it separates only when every part could be a secret by itself. */
function splitSecrets(text: string): readonly string[] {
  const parts = text.split(',').map((part) => part.trim())
  return parts.every((part) => part.length >= shortest) ? parts : [text]
}

function candidates(setting: Field): readonly unknown[] {
  if (Array.isArray(setting.given)) return setting.given
  if (isPresent(setting.given)) return [setting.given]
  return setting.text === undefined ? [] : splitSecrets(setting.text)
}

const cure = "'npx idp-client secret' prints one (64 hexadecimal digits)"

/** The cookie secrets, newest first. A weak one counts as missing: nothing is ever encrypted with it. */
export function resolveSecrets(
  options: IdpClientOptions,
  env: Env,
  addIssue: AddIssue,
): readonly [string, ...string[]] | undefined {
  const setting = field('secret', options, env)
  const secrets: string[] = []
  for (const given of candidates(setting)) {
    if (typeof given !== 'string') return invalid(setting, addIssue, 'must be a string or a list of strings')
    const candidate = given.trim()
    if (isWeak(candidate)) {
      addIssue(
        'missing',
        `${toName(setting)} is too weak and counts as missing: use at least ${shortest} characters that are not all the same; ` +
          `${cure}.`,
      )
      return undefined
    }
    if (!secrets.includes(candidate)) secrets.push(candidate)
  }
  const [first, ...others] = secrets
  if (first !== undefined) return [first, ...others]
  addIssue('missing', `secret is missing: ${waysToSet(setting)}; ${cure}.`)
  return undefined
}
