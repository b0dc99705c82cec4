import { NextResponse } from 'next/server.js'
import type { Binding } from '../../binding.ts'
import type { Application } from '../../engine.ts'
import type { StartInteractiveLoginOptions } from '../../routes/start-login.ts'
import { startLogin } from '../../routes/start-login.ts'

/**
 * The redirect to the provider with the transaction cookie on it. The host gets the cookie too, where it takes one: a
 * Server Action cannot return a response, and `res` of the Pages Router is what is sent.
 */
export async function startNextLogin(
  application: Application,
  binding: Binding,
  options: StartInteractiveLoginOptions,
): Promise<NextResponse> {
  const { exchange } = binding
  const started = await startLogin(application, exchange, options)
  const response = new NextResponse(started.body, started)
  for (const { name, value, attributes } of exchange.cookies.pending()) {
    response.cookies.set(name, value, attributes)
  }
  await binding.commit()
  return response
}
