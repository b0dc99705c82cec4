import { describe, expect, test } from 'vitest'
import { isResponseLike, readHostArguments } from './is-request.ts'

const request = new Request('https://app.example.com/')
const node = { headers: {}, method: 'GET' }
const options = { baseUrl: 'https://api.example.com' }

describe('calling styles', () => {
  const response = new Response()
  const headers = new Headers()
  const nodeResponse = { appendHeader: () => {} }
  const olderNodeResponse = { setHeader: () => {} }
  test.each<[string, readonly unknown[], readonly unknown[]]>([
    ['nothing', [], [undefined, undefined, undefined]],
    ['options', [options], [undefined, undefined, options]],
    ['request', [request], [request, undefined, undefined]],
    ['request of Node, options', [node, options], [node, undefined, options]],
    ['request, response', [request, response], [request, response, undefined]],
    ['request, headers, options', [request, headers, options], [request, headers, options]],
    ['request, response of Node, options', [node, nodeResponse, options], [node, nodeResponse, options]],
    ['no request, options as the second', [undefined, options], [undefined, undefined, options]],
    ['no request, no response, options', [undefined, undefined, options], [undefined, undefined, options]],
    ['request, no response, options', [request, undefined, options], [request, undefined, options]],
  ])('%s', (_what, given, read) => {
    expect(readHostArguments(given)).toEqual(read)
  })

  test.each([[response], [headers], [nodeResponse], [olderNodeResponse]])('%o takes cookies', (value) => {
    expect(isResponseLike(value)).toBe(true)
  })

  test.each([[undefined], [null], ['text'], [options], [{}]])('%o does not', (value) => {
    expect(isResponseLike(value)).toBe(false)
  })
})
