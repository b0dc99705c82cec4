import { index, route } from '@react-router/dev/routes'

export default [
  index('routes/home.jsx'),
  route('auth/*', 'routes/auth.js'),
  route('proxied/*', 'routes/auth.js', { id: 'proxied' }),
  route('page', 'routes/page.jsx'),
  route(':operation', 'routes/operation.js'),
]
