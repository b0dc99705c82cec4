// @vitest-environment happy-dom
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { act } from 'react'
import { createRoot } from 'react-dom/client'
import { expect, onTestFinished, test } from 'vitest'
import type { BrowserMfa } from './index.ts'
import { IdpProvider, mfa } from './index.ts'

// happy-dom adds this to its window; its published type does not reach `Window`.
const browser = window as unknown as { happyDOM: { setURL(url: string): void } }

test('[G4] mfa is exported, and requests the routes of IdpProvider', async () => {
  const asked: (string | undefined)[] = []
  const server = createServer((request, response) => {
    asked.push(request.url)
    response.writeHead(200, { 'content-type': 'application/json' }).end('[]')
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => void server.close())
  browser.happyDOM.setURL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true })
  const root = createRoot(document.createElement('main'))
  act(() => root.render(<IdpProvider routes={{ mfaAuthenticators: '/factors' }}>page</IdpProvider>))
  const client: BrowserMfa = mfa
  expect(await client.getAuthenticators({ mfaToken: 'sealed' })).toEqual([])
  expect(asked).toEqual(['/factors'])
  act(() => root.unmount())
})
