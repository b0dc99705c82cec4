import { describe, expect, test } from 'vitest'
import { toRepetition } from './repeatable-body.ts'

const MIB = 1_048_576

function post(body: BodyInit): Request {
  const init: RequestInit & { duplex: 'half' } = { method: 'POST', body, duplex: 'half' }
  return new Request('https://api.example.com/', init)
}

async function bodyOf(init: RequestInit | null): Promise<string | null> {
  return init && new Response(init.body ?? null).text()
}

describe('a request that can be sent again', () => {
  test.each<[string, BodyInit]>([
    ['text', 'abc'],
    ['bytes', new TextEncoder().encode('abc')],
    ['a part of a buffer', new DataView(new TextEncoder().encode('-abc-').buffer, 1, 3)],
    ['a buffer', new TextEncoder().encode('abc').buffer],
    ['a blob', new Blob(['abc'])],
    ['a file', new File(['abc'], 'a.txt')],
  ])('%s of init', async (_what, body) => {
    const init = { method: 'POST', body }
    const again = await toRepetition(null, init)()
    expect(again).toBe(init)
    expect(await bodyOf(again)).toBe('abc')
  })

  test('has no body', async () => {
    expect(await toRepetition(null, { method: 'GET' })()).toEqual({ method: 'GET' })
    expect(await toRepetition(new Request('https://api.example.com/'), {})()).toEqual({})
  })

  test('has a body in a Request, while the Request itself is sent', async () => {
    const request = post('abc')
    const repetition = toRepetition(request, { keepalive: true })
    expect(await request.text()).toBe('abc')
    const again = await repetition()
    expect(again).toMatchObject({ keepalive: true })
    expect(await bodyOf(again)).toBe('abc')
  })

  test('has exactly 1 MiB in a Request', async () => {
    const request = post('x'.repeat(MIB))
    const repetition = toRepetition(request, {})
    expect((await request.text()).length).toBe(MIB)
    expect((await bodyOf(await repetition()))?.length).toBe(MIB)
  })
})

describe('a request that cannot be sent again', () => {
  test('has a stream in init, which is not read', async () => {
    const stream = new Blob(['abc']).stream()
    expect(await toRepetition(null, { body: stream })()).toBeNull()
    expect(await new Response(stream).text()).toBe('abc')
  })

  test('has more than 1 MiB in a Request, which is sent completely', async () => {
    const request = post('x'.repeat(3 * MIB))
    const repetition = toRepetition(request, {})
    expect((await request.text()).length).toBe(3 * MIB)
    expect(await repetition()).toBeNull()
  })

  test('has a body in a Request that fails while it is read', async () => {
    const broken = new ReadableStream({ pull: (controller) => controller.error(new Error('lost')) })
    const request = post(broken)
    const repetition = toRepetition(request, {})
    await expect(request.text()).rejects.toThrow()
    expect(await repetition()).toBeNull()
  })
})
