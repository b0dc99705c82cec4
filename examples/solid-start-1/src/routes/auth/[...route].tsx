import type { RouteDefinition } from '@solidjs/router'
import { HttpStatusCode } from '@solidjs/start'

export const route: RouteDefinition = {
  preload({ intent, location }) {
    if (intent === 'navigate') window.location.assign(location.pathname + location.search)
  },
}

export default () => <HttpStatusCode code={404} />
