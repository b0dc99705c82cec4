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

const open = (...sizes: readonly number[]): Upload => new Upload(streamOf(...sizes), () => undefined)

async function read(upload: Upload): Promise<number> {
  return (await new Response(upload.stream()).arrayBuffer()).byteLength
}

describe('an upload', () => {
  test('is sent on and can be repeated, any number of times', async () => {
    const upload = open(3, 5)
    expect(await read(upload)).toBe(8)
    const body = await upload.repeat()
    expect([...(body ?? [])]).toEqual([3, 3, 3, 5, 5, 5, 5, 5])
    expect(await upload.repeat()).toEqual(body)
    upload.close()
  })

  test('is read to its end when it is repeated', async () => {
    const upload = open(3, 5)
    const reader = upload.stream().getReader()
    await reader.read()
    await reader.cancel()
    expect(await upload.repeat()).toHaveLength(8)
    upload.close()
  })

  test.each([
    [MIB, true],
    [MIB + 1, false],
  ])('of %s bytes can be repeated: %s', async (size, isRepeatable) => {
    const upload = open(size - 10, 10)
    expect(await read(upload)).toBe(size)
    expect((await upload.repeat()) !== null).toBe(isRepeatable)
    upload.close()
  })

  test('that fails cannot be repeated', async () => {
    const failing = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new Error('gone')),
    })
    const upload = new Upload(failing, () => undefined)
    await expect(read(upload)).rejects.toThrow()
    expect(await upload.repeat()).toBeNull()
    upload.close()
  })

  test('is kept only while all of them have at most 32 MiB, which closing or forgetting frees', async () => {
    const uploads = Array.from({ length: 40 }, () => open(MIB))
    const sizes: number[] = []
    for (const upload of uploads) sizes.push(await read(upload))
    expect(new Set(sizes)).toEqual(new Set([MIB]))
    const kept: Upload[] = []
    for (const upload of uploads) if (await upload.repeat()) kept.push(upload)
    expect(kept).toEqual(uploads.slice(0, 32))
    const late = open(1)
    await read(late)
    expect(await late.repeat()).toBeNull()
    kept[0]?.forget()
    const again = open(MIB)
    await read(again)
    expect(await again.repeat()).toHaveLength(MIB)
    for (const upload of [...uploads, late, again]) upload.close()
    for (const upload of uploads) upload.close()
    const all = Array.from({ length: 32 }, () => open(MIB))
    for (const upload of all) await read(upload)
    for (const upload of all) expect(await upload.repeat()).toHaveLength(MIB)
    for (const upload of all) upload.close()
  })
})
