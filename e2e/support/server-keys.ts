import { createHash, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:tls'
import type { DevProvider } from 'idp-dev-provider'
import { createAuthority } from '../../packages/dev-provider/src/certificates.ts'

type Authority = Awaited<ReturnType<typeof createAuthority>>
type Identity = Authority['identity'] & Pick<Authority, 'ca'>

let identity: Promise<Identity> | undefined

/** Returns the identity of every https front of this process: a browser gets its key at launch, before most fronts start. */
export function frontIdentity(): Promise<Identity> {
  identity ??= createIdentity()
  return identity
}

async function createIdentity(): Promise<Identity> {
  const authority = await createAuthority('localhost')
  // Nothing reads the file with the CA.
  await authority.remove()
  return { ...authority.identity, ca: authority.ca }
}

/** Returns the SHA-256 of the SubjectPublicKeyInfo, by which Chromium names a key. */
function hashKey({ publicKey }: X509Certificate): string {
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  return createHash('sha256').update(spki).digest('base64')
}

/** Returns the hash of the key of all fronts. */
export async function hashFrontKey(): Promise<string> {
  const { cert } = await frontIdentity()
  return hashKey(new X509Certificate(cert))
}

/** Returns the hash of the key of a provider that serves https. */
export async function hashProviderKey({ ca, origin }: DevProvider): Promise<string> {
  const { hostname, port } = new URL(origin)
  const socket = connect({ host: hostname, port: Number(port), ca })
  await once(socket, 'secureConnect')
  const certificate = socket.getPeerX509Certificate()
  socket.destroy()
  if (certificate === undefined) throw new Error(`${origin} sent no certificate`)
  return hashKey(certificate)
}
