import { describe, expect, it } from 'vitest'
import { codes } from '../errors/codes.ts'
import { empty, errorJson, json, NO_CACHE, noStore, redirect } from './responses.ts'

const isNotStored = (response: Response): void => {
  for (const [name, value] of NO_CACHE) expect(response.headers.get(name)).toBe(value)
}

describe('responses', () => {
  it('replace caching headers', () => {
    const headers = new Headers({
      'Cache-Control': 'public, s-maxage=3600',
      Expires: 'Thu, 01 Jan 2099 00:00:00 GMT',
    })
    noStore(headers)
    expect(Object.fromEntries(headers)).toEqual({
      'cache-control': 'private, no-cache, no-store, must-revalidate, max-age=0',
      pragma: 'no-cache',
      expires: '0',
    })
  })

  it('replace headers that precede Cache-Control in some caches, if there are any', () => {
    const headers = new Headers({
      'CDN-Cache-Control': 'public, max-age=600',
      'Surrogate-Control': 'max-age=600',
      'X-Accel-Expires': '600',
    })
    noStore(headers)
    expect(headers.get('cdn-cache-control')).toBe('no-store')
    expect(headers.get('surrogate-control')).toBe('no-store')
    expect(headers.get('x-accel-expires')).toBe('0')
    expect(headers.has('vercel-cdn-cache-control')).toBe(false)
  })

  it('redirect with 302, or 303 unless the request is a GET', () => {
    const response = redirect('https://op.example/authorize?a=b', { method: 'GET' })
    expect(response.status).toBe(302)
    expect(response.headers.get('Location')).toBe('https://op.example/authorize?a=b')
    expect(response.headers.get('Referrer-Policy')).toBe('no-referrer')
    expect(response.body).toBeNull()
    isNotStored(response)
    expect(redirect('/', { method: 'HEAD' }).status).toBe(302)
    for (const method of ['POST', 'DELETE']) expect(redirect('/', { method }).status).toBe(303)
  })

  it('have mutable headers, for the cookies that are added later', () => {
    const response = redirect('/', { method: 'GET' })
    response.headers.append('Set-Cookie', 'a=1')
    expect(response.headers.getSetCookie()).toEqual(['a=1'])
  })

  it('have JSON that no browser interprets as another type', async () => {
    const response = json(200, { sub: '</script>' }, { Allow: 'GET' })
    expect(response.status).toBe(200)
    expect(response.headers.get('Content-Type')).toBe('application/json')
    expect(response.headers.get('X-Content-Type-Options')).toBe('nosniff')
    expect(response.headers.get('Allow')).toBe('GET')
    expect(await response.json()).toEqual({ sub: '</script>' })
    isNotStored(response)
  })

  it('may have no body', async () => {
    const response = empty(405, { Allow: 'GET, POST' })
    expect(response.status).toBe(405)
    expect(response.headers.get('Allow')).toBe('GET, POST')
    expect(await response.text()).toBe('')
    isNotStored(response)
    expect(empty(204).status).toBe(204)
  })

  it('nest code and message of an error', async () => {
    const response = errorJson(401, 'MISSING_SESSION')
    expect(response.status).toBe(401)
    expect(await response.json()).toEqual({
      error: { code: 'MISSING_SESSION', message: codes.MISSING_SESSION.message },
    })
    expect(await errorJson(400, 'INVALID_REQUEST', 'Ours.').json()).toMatchObject({
      error: { message: 'Ours.' },
    })
    isNotStored(response)
  })
})
