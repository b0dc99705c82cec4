import { open } from './floor.mjs'
import { senders } from './headers.mjs'
import { compare, toOwn } from './measure.mjs'
import { createSessions } from './sessions.mjs'

/** The session in the cookie of a request, by hand, or `null`. */
export function readFloor(each) {
  const cookie = each.headers.get('cookie') ?? ''
  const at = cookie.indexOf('session=')
  return at < 0 ? null : open(cookie.slice(at + 'session='.length))
}

/**
 * One request of each kind, through the public operations: all products with a browser's headers, and ours with few. A process
 * measures one host, as applications have one: requests of a class that it has seen before change the numbers of the next.
 *
 * @param {import('./measure.mjs').Effort & { isQuick: boolean, table?: string }} effort
 * @param {Function} toKinds returns, for the sessions of one user, a list of kinds: the title, what the floor does, and a function
 *   from headers to candidates
 */
export async function measureRequests(effort, toKinds) {
  const kinds = await toKinds(await createSessions())
  const tables = []
  for (const [title, floor, toCandidates] of kinds.filter(([each]) => each.includes(effort.table ?? ''))) {
    const few = effort.isQuick ? [] : toOwn(toCandidates(senders['few headers']))
    const candidates = [
      ...toCandidates(senders.browser),
      ...few.map((each) => ({ ...each, work: [each.work, 'few headers'].filter(Boolean).join(', ') })),
    ]
    tables.push({ title, floor, rows: await compare(candidates, effort) })
  }
  return tables
}
