import { describe, expect, it } from 'vitest'
import type { CookieSink, StagedCookie } from './cookie-jar.ts'
import { CookieJar } from './cookie-jar.ts'

const scope = { path: '/app', domain: 'app.example', secure: true, sameSite: 'lax' } as const
const spec = { name: 'session', scope }

function recorder(): { sink: CookieSink; written: StagedCookie[] } {
  const written: StagedCookie[] = []
  return { written, sink: { set: (name, value, attributes) => written.push({ name, value, attributes }) } }
}

describe('CookieJar', () => {
  it('reads staged writes before the cookies of the request', () => {
    const jar = new CookieJar(
      new Map([
        ['session', 'old'],
        ['theme', 'dark'],
      ]),
    )
    expect(jar.get('session')).toBe('old')
    jar.set(spec, 'new', 60)
    expect(jar.get('session')).toBe('new')
    jar.clear(spec)
    expect(jar.get('session')).toBeUndefined()
    expect(jar.names()).toEqual(['theme'])
  })

  it('decodes percent-encoding of a host, and keeps malformed sequences', () => {
    const jar = new CookieJar(
      new Map([
        ['__txn_a', '123%3Aabc'],
        ['odd', '100%'],
        ['bytes', '%ff'],
      ]),
    )
    expect(jar.get('__txn_a')).toBe('123:abc')
    expect(jar.get('odd')).toBe('100%')
    expect(jar.get('bytes')).toBe('%ff')
  })

  it('returns every value of a repeated name, until one is staged', () => {
    const jar = new CookieJar(
      new Map<string, string | string[]>([
        ['session', ['tossed', 'o%3Awn']],
        ['theme', 'dark'],
      ]),
    )
    expect(jar.get('session')).toBe('tossed')
    expect(jar.all('session')).toEqual(['tossed', 'o:wn'])
    expect(jar.all('theme')).toEqual(['dark'])
    expect(jar.all('none')).toEqual([])
    expect(jar.names()).toEqual(['session', 'theme'])
    expect(jar.entries()).toEqual([
      ['session', 'tossed'],
      ['session', 'o%3Awn'],
      ['theme', 'dark'],
    ])
    jar.set(spec, 'new')
    expect(jar.all('session')).toEqual(['new'])
    jar.clear(spec)
    expect(jar.all('session')).toEqual([])
    expect(jar.entries()).toEqual([['theme', 'dark']])
  })

  it('forwards received values unchanged', () => {
    const jar = new CookieJar(
      new Map([
        ['theirs', 'a%3Bb'],
        ['session', 'old'],
      ]),
    )
    jar.set(spec, 'new')
    jar.set({ name: 'added', scope }, '1')
    expect(jar.entries()).toEqual([
      ['theirs', 'a%3Bb'],
      ['session', 'new'],
      ['added', '1'],
    ])
    jar.clear(spec)
    expect(jar.entries()).toEqual([
      ['theirs', 'a%3Bb'],
      ['added', '1'],
    ])
  })

  it('[S089] always writes HttpOnly, and deletes with the attributes of the write', () => {
    const { sink, written } = recorder()
    const jar = new CookieJar(new Map())
    jar.set(spec, 'v', 60)
    jar.flush(sink)
    jar.clear(spec)
    jar.flush(sink)
    expect(written).toEqual([
      { name: 'session', value: 'v', attributes: { ...scope, httpOnly: true, maxAge: 60 } },
      { name: 'session', value: '', attributes: { ...scope, httpOnly: true, maxAge: 0 } },
    ])
  })

  it('[S087] writes Max-Age only if it is set', () => {
    const { sink, written } = recorder()
    const jar = new CookieJar(new Map())
    jar.set(spec, 'v')
    jar.flush(sink)
    expect(written[0]?.attributes).not.toHaveProperty('maxAge')
  })

  it('writes each name once with its last value, and nothing twice', () => {
    const { sink, written } = recorder()
    const jar = new CookieJar(new Map())
    jar.set(spec, 'first')
    jar.set(spec, 'second')
    jar.flush(sink)
    jar.flush(sink)
    expect(written.map(({ value }) => value)).toEqual(['second'])
    expect(jar.pending()).toEqual([])
    expect(jar.get('session')).toBe('second')
  })

  it('withdraws writes that are out of date when they leave', () => {
    const { sink, written } = recorder()
    const jar = new CookieJar(new Map())
    let isOver = false
    jar.set(spec, 'a')
    jar.flush(sink)
    jar.set(spec, 'b')
    jar.set({ name: 'other', scope }, 'c')
    jar.withdrawIf(({ name }) => isOver && name === 'session')
    isOver = true
    jar.copyTo(sink)
    jar.flush(sink)
    expect(written.map(({ value }) => value)).toEqual(['a', 'c', 'c'])
    expect(jar.isPending).toBe(false)
  })

  it('does not withdraw a later write of the same name', () => {
    const { sink, written } = recorder()
    const jar = new CookieJar(new Map())
    jar.set(spec, 'a')
    jar.withdrawIf(() => true)
    expect(jar.isPending).toBe(false)
    jar.clear(spec)
    jar.flush(sink)
    expect(written.map(({ attributes }) => attributes.maxAge)).toEqual([0])
  })

  it('withdraws a write if any of several conditions is true', () => {
    const jar = new CookieJar(new Map())
    jar.set(spec, 'a')
    jar.set({ name: 'other', scope }, 'b')
    jar.withdrawIf(({ name }) => name === 'session')
    jar.withdrawIf(() => false)
    expect(jar.pending().map(({ name }) => name)).toEqual(['other'])
  })

  it('calls each listener once, after the next flush', () => {
    const jar = new CookieJar(new Map())
    const called: string[] = []
    jar.whenFlushed(() => called.push('first'))
    jar.whenFlushed(() => called.push('second'))
    expect(called).toEqual([])
    jar.flush(recorder().sink)
    jar.flush(recorder().sink)
    expect(called).toEqual(['first', 'second'])
  })

  it('keeps everything pending if the host rejects the first write', () => {
    const jar = new CookieJar(new Map())
    jar.set(spec, 'a')
    jar.set({ name: 'other', scope }, 'b')
    const refusing: CookieSink = {
      set() {
        throw new Error('read-only')
      },
    }
    expect(() => jar.flush(refusing)).toThrow('read-only')
    expect(jar.pending().map(({ name }) => name)).toEqual(['session', 'other'])
  })
})
