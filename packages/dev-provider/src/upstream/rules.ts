import type { UpstreamRequest } from './requests.ts'
import type { UpstreamResponder } from './responses.ts'

export interface RespondOptions {
  /** How many requests get the response; by default all until `reset`. */
  readonly times?: number
  /** Only requests with this target, query included. */
  readonly target?: string
  /** Only requests with one of these access tokens; `older`: with any but the one that was first sent last. */
  readonly tokens?: readonly string[] | 'older'
  /** Only requests for which it returns true. */
  readonly when?: (request: UpstreamRequest) => boolean
  /** Responds when the head of the request arrived, instead of when its body has ended. */
  readonly early?: boolean
}

/** A response, and the requests that it is for. */
export interface Rule {
  readonly responder: UpstreamResponder
  readonly early: boolean
}

export interface Rules {
  /** Adds a rule; the last one that applies is used. Returns its removal. */
  add(responder: UpstreamResponder, options: RespondOptions): () => void
  /** Returns the rule of a request, and counts its use. Called once for each request, in their order. */
  take(request: UpstreamRequest): Rule
  clear(): void
}

const byDefault: Rule = { responder: { kind: 'echo' }, early: false }

export function createRules(): Rules {
  let rules: (Rule & { options: RespondOptions; left: number })[] = []
  const known = new Set<string>()
  let newest: string | undefined

  const applies = ({ target, tokens, when }: RespondOptions, request: UpstreamRequest): boolean => {
    const { token } = request
    if (target !== undefined && target !== request.target) return false
    if (tokens === 'older' && token === newest) return false
    if (Array.isArray(tokens) && (token === undefined || !tokens.includes(token))) return false
    return when?.(request) ?? true
  }
  return {
    add: (responder, options) => {
      const { early = false, times = Number.POSITIVE_INFINITY } = options
      const rule = { responder, early, options, left: times }
      rules = [...rules, rule]
      return () => {
        rules = rules.filter((other) => other !== rule)
      }
    },
    take: (request) => {
      const { token } = request
      if (token !== undefined && !known.has(token)) {
        known.add(token)
        newest = token
      }
      const rule = rules.findLast(({ options, left }) => left > 0 && applies(options, request))
      if (rule === undefined) return byDefault
      rule.left -= 1
      return rule
    },
    clear: () => {
      rules = []
      known.clear()
      newest = undefined
    },
  }
}
