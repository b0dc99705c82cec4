import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { isIdpError } from '../errors/base.ts'
import { ArgumentReader } from './host-arguments.ts'

const read = new ArgumentReader()

const web = new Request('https://app.example.com/')
const node = Object.assign(new IncomingMessage(new Socket()), { method: 'GET', url: '/' })
const targets = [new Response(), new Headers(), new ServerResponse(node), { setHeader: () => {} }]
const options = { audience: 'https://api.example.com/' }

/** A context of a framework: it has a request and is not one. */
class Context {
  readonly req: Request = web
}

type Given = readonly unknown[]

/** The arguments of a call that is written as its roles. */
function argumentsOf(call: string, request: object, response: object): Given {
  const values: Record<string, unknown> = { options, request, response, undefined }
  return call === '' ? [] : call.split(', ').map((role) => values[role])
}

function messageOf(call: () => unknown): string {
  try {
    call()
  } catch (error) {
    if (isIdpError(error, 'INVALID_ARGUMENTS')) return error.message
    throw error
  }
  return 'accepted'
}

describe('an operation with options', () => {
  test.each([
    '',
    'options',
    'request',
    'request, options',
    'request, undefined, options',
    'request, response',
    'request, response, options',
    'request, response, undefined',
    'options, request',
    'options, request, response',
    'options, request, undefined',
    'options, undefined, undefined',
    'undefined, request, response',
    'undefined, undefined, options',
    'undefined, options',
    'undefined',
  ])('[G1] accepts (%s)', (call) => {
    for (const request of [web, node]) {
      for (const response of targets) {
        expect(read.withOptions('getAccessToken', argumentsOf(call, request, response))).toEqual({
          ...(/\brequest/.test(call) ? { request } : {}),
          ...(/\bresponse/.test(call) ? { response } : {}),
          ...(/\boptions/.test(call) ? { options } : {}),
        })
      }
    }
  })

  test.each([
    'response',
    'response, request',
    'response, options',
    'undefined, response, options',
    'request, options, response',
    'options, response, request',
    'request, request',
    'options, options',
    'request, response, options, options',
  ])('[G1] rejects (%s) with a sentence that names what it accepts', (call) => {
    const order = call.replace('undefined, ', '')
    for (const response of targets) {
      expect(messageOf(() => read.withOptions('getAccessToken', argumentsOf(call, web, response)))).toContain(
        `getAccessToken takes (options), (request, response, options) or (options, request, response), not (${order}).`,
      )
    }
  })

  test.each<[string, Given]>([
    ['null', [null]],
    ['string', ['https://api.example.com/']],
    ['request, number', [web, 1]],
    ['function', [() => ({})]],
    ['array', [[]]],
    ['instance of another class', [new Context()]],
    ['instance of another class', [new Map()]],
    ['object with headers but without method and url', [{ headers: { cookie: 'secret' } }]],
  ])('[G1] refuses (%s)', (order, given) => {
    const message = messageOf(() => read.withOptions('connectAccount', given))
    expect(message).toContain(`not (${order}).`)
    expect(message).not.toContain('secret')
  })

  test('accepts options of another realm and options without a prototype', () => {
    for (const value of [runInNewContext('({ audience: 1 })'), Object.create(null)]) {
      expect(read.withOptions('getAccessToken', [value]).options).toBe(value)
    }
  })
})

test.each<[Given, string]>([
  [[], 'accepted'],
  [[web], 'accepted'],
  [[web, targets[0]], 'accepted'],
  [[{}, web, targets[0]], 'accepted'],
  [[undefined, web, targets[0]], 'accepted'],
  [[{ refreshToken: 'secret' }, web], 'takes () or (request, response), not (options, request).'],
  [[options], 'takes () or (request, response), not (options).'],
])('[G1] an operation without options refuses any: %o', (given, expected) => {
  const message = messageOf(() => read.withoutOptions('revokeRefreshToken', given))
  expect(message.endsWith(expected)).toBe(true)
})

describe('an operation with a session', () => {
  const [response = new Response()] = targets
  const session = { user: { sub: 'alice' }, headers: 'a member of the application' }

  test.each<[string, Given]>([
    ['session', [session]],
    ['request, response, session', [web, response, session]],
    ['session, request, response', [session, web, response]],
  ])('[G1] takes (%s)', (call, given) => {
    const explicit = call === 'session' ? {} : { request: web, response }
    expect(read.withSession('updateSession', given)).toEqual({ ...explicit, options: session })
  })

  test.each([null, 'text', 7, [], new Map()])('passes %o to the operation, which validates it', (value) => {
    expect(read.withSession('updateSession', [web, response, value]).options).toBe(value)
  })

  test('[G1] rejects more than one', () => {
    expect(messageOf(() => read.withSession('updateSession', [session, session]))).toContain(
      'updateSession takes (session), (request, response, session) or (session, request, response), not',
    )
  })
})

test.each([
  ['class', new Context()],
  ['plain object', { req: web, locals: {} }],
])('[F13] a context of the host is a request: %s', (_kind, context) => {
  const reader = new ArgumentReader({ isContext: (value) => 'req' in value })
  expect(reader.withoutOptions('getSession', [context])).toEqual({ request: context })
  expect(reader.withOptions('getAccessToken', [options, context])).toEqual({ request: context, options })
  expect(reader.withSession('updateSession', [context, {}])).toEqual({ request: context, options: {} })
})
