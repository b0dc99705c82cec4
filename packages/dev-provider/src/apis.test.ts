import { expect, test } from 'vitest'
import { parseApis } from './apis.ts'

test('[N9] an audience, with scopes or without', () => {
  expect(
    parseApis([
      'https://api.example.com/=read:orders,write:orders',
      'urn:example:api',
      'https://b.example=a=b',
    ]),
  ).toEqual([
    { audience: 'https://api.example.com/', scopes: ['read:orders', 'write:orders'] },
    { audience: 'urn:example:api', scopes: [] },
    { audience: 'https://b.example', scopes: ['a=b'] },
  ])
})

test.each([
  [['']],
  [['orders']],
  [['=read:orders']],
  [[' https://api.example.com/']],
  [['https://api.example.com/ =read']],
  [['https://api.example.com/?a=b']],
  [['https://api.example.com/#a']],
])('[N9] %j has no valid audience', (values) => {
  expect(() => parseApis(values)).toThrow(/^--api .*the audience must be an absolute URI/)
})

test.each(['=', '=a,', '=,a', '=a,,b', '=a b', '=a, b', '="a"', '=a\\b', '=\u00e9'])(
  '[N9] %j has no valid scopes',
  (scopes) => {
    expect(() => parseApis([`https://api.example.com/${scopes}`])).toThrow(
      /^--api .*separate scopes by single commas/,
    )
  },
)

test('[N9] a repeated audience or scope is an error', () => {
  expect(() => parseApis(['urn:a=b', 'urn:c', 'urn:a=d'])).toThrow(
    /^--api urn:a is repeated\. List all scopes once/,
  )
  expect(() => parseApis(['urn:a=b,c,b'])).toThrow(/^--api urn:a=b,c,b: the scope b is repeated/)
})
