import type { HonoRequest } from 'hono'
import { IdpError } from '../../errors/base.ts'
import { WebRequestView } from '../web/binding.ts'

const isText = (field: [string, unknown]): field is [string, string] => typeof field[1] === 'string'

/** Returns the body that `c.req` has read: it keeps what it returned first. Undefined if it has read none. */
async function readBody(req: HonoRequest): Promise<string | undefined> {
  const [first] = Object.keys(req.bodyCache)
  if (first !== 'formData') return first === undefined ? undefined : req.text()
  // The text of form data would be multipart, whatever the browser has sent.
  return new URLSearchParams([...(await req.formData())].filter(isText)).toString()
}

/** Returns the base path of the application that the current middleware belongs to, or `undefined` without one. */
function toPrefix({ matchedRoutes, routeIndex }: HonoRequest): string | undefined {
  const route = matchedRoutes?.[routeIndex]
  if (route === undefined) return undefined
  const { basePath } = route
  if (basePath === undefined) {
    throw new IdpError('INVALID_ARGUMENTS', { detail: 'idp-client/hono needs Hono 4.8 or later.' })
  }
  // A base path with parameters is no prefix of the path.
  return basePath === '/' || /[:*{]/.test(basePath) ? undefined : basePath
}

/** The view of a request that an application below a base path gets, and whose body may have been read with `c.req`. */
export class HonoRequestView extends WebRequestView {
  readonly path?: string
  readonly prefix?: string
  readonly #req: HonoRequest

  constructor(req: HonoRequest) {
    super(req.raw)
    this.#req = req
    const prefix = toPrefix(req)
    if (prefix === undefined || !this.url.pathname.startsWith(prefix)) return
    this.path = this.url.pathname.slice(prefix.length) || '/'
    this.prefix = prefix
  }

  protected override async body(): Promise<string> {
    return (await readBody(this.#req)) ?? super.body()
  }
}
