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
  it('reads what the request carried, and staged writes before that', () => {
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

  it('undoes percent-encoding of a host writer, and leaves malformed sequences alone', () => {
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

  it('shows every value of a name that came several times, until one is staged', () => {
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

  it('forwards received values letter for letter', () => {
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

  it('[S089] writes HttpOnly always, and deletes with the attributes of the write', () => {
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

  it('[S087] writes no Max-Age unless it is given one', () => {
    const { sink, written } = recorder()
    const jar = new CookieJar(new Map())
    jar.set(spec, 'v')
    jar.flush(sink)
    expect(written[0]?.attributes).not.toHaveProperty('maxAge')
  })

  it('writes each name once, the last write, and nothing twice', () => {
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

  it('keeps everything pending when the host refuses the first write', () => {
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
