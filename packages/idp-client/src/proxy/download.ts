import type { Limits } from './limits.ts'

type BodyReader = ReadableStreamDefaultReader<Uint8Array>

/** The kind of a response, and callbacks for the end of its body. */
export interface DownloadEvents {
  /** Called once, when the body has ended, failed, or is no longer wanted. */
  readonly onEnd: () => void
  /** Called before, if it failed. Returns whether it counts as complete. */
  readonly onFailure: (thrown: unknown) => boolean
  /** Whether it is an event stream, which may begin with a pause. */
  readonly isEventStream: boolean
}

function assertContinues({ reason }: Limits): void {
  if (reason) throw new TypeError('The request has ended.')
}

/** Returns the body of a response as it arrives, no faster than it is read. Once it is not wanted, the API stops. */
export function toDownload(
  reader: BodyReader,
  limits: Limits,
  { isEventStream, onEnd, onFailure }: DownloadEvents,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        // Many servers send the head of a response with the first part of its body.
        if (isEventStream) controller.enqueue(new Uint8Array())
      },
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          assertContinues(limits)
          limits.moved()
          if (!done) return controller.enqueue(value)
          onEnd()
          controller.close()
        } catch (thrown) {
          const isComplete = onFailure(thrown)
          onEnd()
          if (isComplete) controller.close()
          else controller.error(new TypeError('The response of the API broke off.'))
        }
      },
      cancel() {
        limits.end('client')
        onEnd()
      },
    },
    { highWaterMark: 0 },
  )
}

/** Reads a short body. Returns it as a stream that is complete: a response costs more with bytes, which it makes a stream of. */
export async function readWhole(reader: BodyReader, limits: Limits): Promise<ReadableStream<Uint8Array>> {
  const chunks: Uint8Array[] = []
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    limits.moved()
    chunks.push(next.value)
  }
  assertContinues(limits)
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })
}
