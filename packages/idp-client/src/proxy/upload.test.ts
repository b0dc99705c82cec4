import { describe, expect, test } from 'vitest'
import { Upload } from './upload.ts'

const MIB = 1_048_576

const streamOf = (...sizes: readonly number[]): ReadableStream<Uint8Array> => {
  const parts = [...sizes]
  return new ReadableStream({
    pull(controller) {
      const size = parts.shift()
      if (size === undefined) controller.close()
      else controller.enqueue(new Uint8Array(size).fill(size % 251))
    },
  })
}

const open = (...sizes: readonly number[]): Upload =>
  new Upload(streamOf(...sizes), undefined, () => undefined)

async function read(upload: Upload): Promise<number> {
  const { body = null } = await upload.first()
  return (await new Response(body).arrayBuffer()).byteLength
}

async function repeated(upload: Upload): Promise<Uint8Array | null> {
  const { body = null } = (await upload.repeat()) ?? {}
  return body && new Uint8Array(await new Response(body).arrayBuffer())
}

describe('an upload', () => {
  test('is sent on and can be repeated, any number of times', async () => {
    const upload = open(3, 5)
    expect(await read(upload)).toBe(8)
    const body = await repeated(upload)
    expect([...(body ?? [])]).toEqual([3, 3, 3, 5, 5, 5, 5, 5])
    expect(await repeated(upload)).toEqual(body)
    upload.close()
  })

  test('is read to its end when it is repeated', async () => {
    const upload = open(3, 5)
    const { body } = await upload.first()
    if (!(body instanceof ReadableStream)) throw new Error('it is no stream')
    const reader = body.getReader()
    await reader.read()
    await reader.cancel()
    expect(await repeated(upload)).toHaveLength(8)
    upload.close()
  })

  test('that is short is read first, and not again', async () => {
    const upload = new Upload(streamOf(3, 5), 8, () => undefined)
    const { body, duplex } = await upload.first()
    expect([body instanceof Uint8Array, duplex]).toEqual([true, undefined])
    expect(await repeated(upload)).toHaveLength(8)
    upload.close()
  })

  test.each([
    [65_536, Uint8Array],
    [65_537, ReadableStream],
  ])('of %i bytes is read before it is sent on only up to 64 KiB', async (size, kind) => {
    const upload = new Upload(streamOf(size), size, () => undefined)
    expect((await upload.first()).body).toBeInstanceOf(kind)
    upload.close()
  })

  test('that is short and breaks off is a bad request', async () => {
    const failing = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new Error('gone')),
    })
    const upload = new Upload(failing, 8, () => undefined)
    await expect(upload.first()).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
    upload.close()
  })

  test('that is repeated while it is sent breaks off there: parts would be missing', async () => {
    const upload = open(3, 5, 7)
    const { body } = await upload.first()
    if (!(body instanceof ReadableStream)) throw new Error('it is no stream')
    const reader = body.getReader()
    await reader.read()
    expect(await repeated(upload)).toHaveLength(15)
    await expect(reader.read()).rejects.toThrow('sent again')
    upload.close()
  })

  test.each([
    [MIB, true],
    [MIB + 1, false],
  ])('of %s bytes can be repeated: %s', async (size, isRepeatable) => {
    const upload = open(size - 10, 10)
    expect(await read(upload)).toBe(size)
    expect((await repeated(upload)) !== null).toBe(isRepeatable)
    upload.close()
  })

  test('that fails cannot be repeated', async () => {
    const failing = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new Error('gone')),
    })
    const upload = new Upload(failing, undefined, () => undefined)
    await expect(read(upload)).rejects.toThrow()
    expect(await repeated(upload)).toBeNull()
    upload.close()
  })

  test('is kept only while all of them have at most 32 MiB, which closing or forgetting frees', async () => {
    const uploads = Array.from({ length: 40 }, () => open(MIB))
    const sizes: number[] = []
    for (const upload of uploads) sizes.push(await read(upload))
    expect(new Set(sizes)).toEqual(new Set([MIB]))
    const kept: Upload[] = []
    for (const upload of uploads) if (await repeated(upload)) kept.push(upload)
    expect(kept).toEqual(uploads.slice(0, 32))
    const late = open(1)
    await read(late)
    expect(await repeated(late)).toBeNull()
    kept[0]?.forget()
    const again = open(MIB)
    await read(again)
    expect(await repeated(again)).toHaveLength(MIB)
    for (const upload of [...uploads, late, again]) upload.close()
    for (const upload of uploads) upload.close()
    const all = Array.from({ length: 32 }, () => open(MIB))
    for (const upload of all) await read(upload)
    for (const upload of all) expect(await repeated(upload)).toHaveLength(MIB)
    for (const upload of all) upload.close()
  })
})
