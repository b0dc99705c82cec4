/** The APIs of the applications: what `aud` of their access tokens contains, and their scopes. */
export const apis = {
  orders: { audience: 'https://orders.example.com/', scopes: ['orders:read', 'orders:write'] },
  invoices: { audience: 'https://invoices.example.com/', scopes: ['invoices:read'] },
}

/** Describes the caller for the scenarios, without its token. */
const describeCaller = (_request, { auth }) => {
  const { clientId, isClient, kind, scope, sub } = auth
  return Response.json({ clientId, isClient, kind, scope, sub })
}

/** The certificate that the server in front of the application has verified; here the scenarios are that server. */
const clientCertificate = ({ headers }) => decodeURIComponent(headers.get('x-client-cert') ?? '')

/** The guarded handlers of the applications, by path. */
export function createApis(idp) {
  const orders = idp.resource({ ...apis.orders, clientCertificate })
  const invoices = idp.resource(apis.invoices)
  const guard = (options) => idp.withApiAuthRequired(describeCaller, options)
  return {
    '/api/orders': guard({ accept: [orders], scope: 'orders:read' }),
    '/api/changes': guard({ accept: [orders], scope: 'orders:write' }),
    '/api/invoices': guard({ accept: [invoices], scope: 'invoices:read' }),
    '/api/opaque': guard({
      accept: [idp.resource({ ...apis.orders, introspection: true })],
      scope: 'orders:read',
    }),
    '/api/shared': guard({ accept: ['session', orders] }),
  }
}
