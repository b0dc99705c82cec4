import { decode as decodeAuthJs, encode as encodeAuthJs } from '@auth/core/jwt'
import { generateSessionCookie } from '@auth0/nextjs-auth0/testing'
import { symmetricDecodeJWT, symmetricEncodeJWT } from 'better-auth/crypto'
import { sealData, unsealData } from 'iron-session'
import { decode, encode } from 'next-auth/jwt'
import { open, seal } from '../lib/floor.mjs'
import { createOurSealer } from '../lib/internals.mjs'
import { compare } from '../lib/measure.mjs'
import { referenceSession } from '../lib/sessions.mjs'
import { secret } from '../lib/settings.mjs'

const day = 86_400

/** Reads a part of a session: idp-client decodes claims and tokens when they are first read, the others at once. */
const read = async (opened, part) => part((await opened).data)

/** Session to cookie value and back, the same data for all. */
export async function measure(effort) {
  const data = referenceSession()
  const ours = await createOurSealer(secret)
  const salt = 'session'
  const texts = {
    floor: seal(data),
    ours: await ours.seal(data),
    nextAuth: await encode({ token: data, secret }),
    authJs: await encodeAuthJs({ token: data, secret, salt }),
    better: await symmetricEncodeJWT(data, secret, salt, day),
    iron: await sealData(data, { password: secret }),
  }
  return [
    {
      title: 'Open a session cookie',
      floor: 'AES-256-GCM by node:crypto, JSON.parse',
      rows: await compare(
        [
          { name: 'floor', run: () => open(texts.floor) },
          {
            name: 'idp-client',
            run: () => read(ours.open(texts.ours), ({ tokenSet, user }) => [tokenSet.accessToken, user]),
          },
          {
            name: 'idp-client, only the user read',
            run: () => read(ours.open(texts.ours), ({ user }) => user),
          },
          { name: 'idp-client, only checked', run: () => ours.open(texts.ours) },
          { name: 'next-auth', run: () => decode({ token: texts.nextAuth, secret }) },
          { name: 'Auth.js', run: () => decodeAuthJs({ token: texts.authJs, secret, salt }) },
          { name: 'better-auth', run: () => symmetricDecodeJWT(texts.better, secret, salt) },
          { name: 'iron-session', run: () => unsealData(texts.iron, { password: secret }) },
        ],
        effort,
      ),
    },
    {
      title: 'Seal a session cookie',
      floor: 'JSON.stringify, AES-256-GCM by node:crypto',
      rows: await compare(
        [
          { name: 'floor', run: () => seal(data) },
          { name: 'idp-client', run: () => ours.seal(data) },
          { name: 'nextjs-auth0', run: () => generateSessionCookie(data, { secret }) },
          { name: 'next-auth', run: () => encode({ token: data, secret }) },
          { name: 'Auth.js', run: () => encodeAuthJs({ token: data, secret, salt }) },
          { name: 'better-auth', run: () => symmetricEncodeJWT(data, secret, salt, day) },
          { name: 'iron-session', run: () => sealData(data, { password: secret }) },
        ],
        effort,
      ),
    },
  ]
}
