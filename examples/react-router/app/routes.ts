import type { RouteConfig } from '@react-router/dev/routes'
import { index, route } from '@react-router/dev/routes'

export default [
  route('auth/*', 'routes/auth.ts'),
  index('routes/home.tsx'),
  route('account', 'routes/account.tsx'),
  route('api/me', 'routes/api.me.ts'),
] satisfies RouteConfig
