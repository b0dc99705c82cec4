import type { HonoRequest } from 'hono'
import { IdpError } from '../../errors/base.ts'
import { parseForm } from '../../http/form.ts'
import type { JsonBody } from '../../http/json-body.ts'
import { parseJson } from '../../http/json-body.ts'
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
function toMount({ matchedRoutes, routeIndex }: HonoRequest): string | undefined {
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
  readonly mount?: string
  readonly #req: HonoRequest

  constructor(req: HonoRequest, mountLine: string) {
    super(req.raw, mountLine)
    this.#req = req
    const mount = toMount(req)
    if (mount === undefined || !this.url.pathname.startsWith(mount)) return
    this.path = this.url.pathname.slice(mount.length) || '/'
    this.mount = mount
  }

  override async form(): Promise<URLSearchParams> {
    const body = await readBody(this.#req)
    return body === undefined ? super.form() : parseForm(this.headers.get('content-type'), body)
  }

  override async json(): Promise<JsonBody> {
    const body = await readBody(this.#req)
    return body === undefined ? super.json() : parseJson(this.headers.get('content-type'), body)
  }
}
