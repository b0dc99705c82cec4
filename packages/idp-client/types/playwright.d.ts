/** The part of Playwright Test that `idp-client/playwright` uses; applications have the types of Playwright itself. */
declare module '@playwright/test' {
  interface Cookie {
    name: string
    value: string
    domain: string
    path: string
    /** Seconds since the epoch; -1 for a cookie of the browser session. */
    expires: number
    httpOnly: boolean
    secure: boolean
    sameSite: 'Strict' | 'Lax' | 'None'
  }

  /** A file with the state, or the state. */
  export type StorageState = string | { cookies: Cookie[]; origins: { origin: string }[] }

  interface Locator {
    all(): Promise<Locator[]>
    click(): Promise<void>
    getAttribute(name: string): Promise<string | null>
  }

  export interface Page {
    evaluate(expression: string): Promise<unknown>
    goto(url: string): Promise<{ ok(): boolean; status(): number } | null>
    locator(selector: string): Locator
    url(): string
    waitForLoadState(): Promise<void>
    waitForTimeout(milliseconds: number): Promise<void>
    waitForURL(matches: (url: URL) => boolean): Promise<void>
  }

  export interface PlaywrightTestArgs {
    context: object
    page: Page
  }
  export interface PlaywrightTestOptions {
    baseURL: string | undefined
    storageState: StorageState | undefined
  }
  export interface PlaywrightWorkerArgs {
    playwright: object
  }
  export interface PlaywrightWorkerOptions {
    browserName: string
  }

  type Use<T> = (value: T) => Promise<void>
  type Fixture<T, Args> = T | ((args: Args, use: Use<T>) => Promise<void>)

  export type Fixtures<T extends object, W extends object, PT extends object, PW extends object> = {
    [Name in keyof PT]?: Fixture<PT[Name], T & W & PT & PW>
  } & {
    [Name in keyof W]?: [Fixture<W[Name], W & PW>, { scope: 'worker'; option?: boolean }]
  } & {
    [Name in keyof T]?: Fixture<T[Name], T & W & PT & PW> | [T[Name], { option: boolean }]
  }
}
