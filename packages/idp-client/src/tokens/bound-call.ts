import { IdpError } from '../errors/base.ts'
import type { ApiCall } from '../http/api-call.ts'
import { discard } from '../http/api-call.ts'
import { pause } from '../lib/pause.ts'

/** Creates DPoP proofs for one address, with the nonces of its origin; passed in by the flow. */
export interface DpopProver {
  /** Returns a new proof, with `nonce` or the latest nonce of the origin. Each request needs its own. */
  prove(request: { method: string; url: URL; accessToken: string; nonce?: string }): Promise<string>
  /** Remembers the nonce of a response for the origin, and returns it. */
  learn(url: URL, response: Response): string | null
  /** Returns whether a response demands a nonce, even if it contains none. */
  demandsNonce(response: Response): boolean
  /** Returns the delay before a retry, in milliseconds; the first one is 1. */
  retryDelay(retry: number): number
}

function refuse(response: Response, code: 'FETCHER_NONCE_REFUSED' | 'FETCHER_BODY_NOT_REPLAYABLE'): never {
  discard(response)
  throw new IdpError(code)
}

/** How often a call is repeated: parallel calls may use up or replace the nonce of a challenge before its retry arrives. */
const MAX_RETRIES = 4

/**
 * Sends a call with a token that is bound to the client's key (RFC 9449 section 7), and again if the API demands a nonce
 * in the proof: each retry proves with the nonce of the challenge that caused it.
 */
export async function sendBound(call: ApiCall, accessToken: string, prover: DpopProver): Promise<Response> {
  const { method, signal, url } = call
  const repetition = call.prepareRepetition()

  async function send(init?: RequestInit, nonce?: string): Promise<Response> {
    const dpop = await prover.prove({
      method,
      url,
      accessToken,
      ...(nonce === undefined ? {} : { nonce }),
    })
    return call.send({ authorization: `DPoP ${accessToken}`, dpop }, init)
  }

  let response = await send()
  for (let retry = 1; ; retry++) {
    const nonce = prover.learn(url, response)
    if (!prover.demandsNonce(response)) return response
    if (nonce === null || retry > MAX_RETRIES) return refuse(response, 'FETCHER_NONCE_REFUSED')
    const init = await repetition()
    if (!init) return refuse(response, 'FETCHER_BODY_NOT_REPLAYABLE')
    discard(response)
    await pause(prover.retryDelay(retry), signal)
    signal?.throwIfAborted()
    response = await send(init, nonce)
  }
}
