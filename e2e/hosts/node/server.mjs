// The contract application on node:http, without a framework.
import { createServer } from 'node:http'
import { IdpClient, sendResponse } from 'idp-client/node'
import * as contract from './support/contract.mjs'

const idp = new IdpClient(contract.options)
contract.addProxy(idp)

function sendJson(res, body, status = 200) {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

const guardedPage = idp.withPageAuthRequired(async (_req, res) => {
  const session = await idp.getSession()
  res.end(`user=${session.user.sub}`)
})

const guardedApi = idp.withApiAuthRequired(async (_req, res) => {
  const session = await idp.getSession()
  sendJson(res, { sub: session.user.sub })
})

const resourceApi = idp.withApiAuthRequired(
  (req, res) => sendJson(res, contract.toShared(req.idpAuth)),
  contract.tokensOnly(idp),
)

const sharedApi = idp.withApiAuthRequired(
  (req, res) => sendJson(res, contract.toShared(req.idpAuth)),
  contract.sharing(idp),
)

const routes = {
  '/': (_req, res) => res.end('home'),
  '/public': (_req, res) => res.setHeader('cache-control', 'public, max-age=60').end('public'),
  '/page': (req, res) => guardedPage(req, res),
  '/api': (req, res) => guardedApi(req, res),
  '/resource': (req, res) => resourceApi(req, res),
  '/shared': (req, res) => sharedApi(req, res),
  '/whoami': async (req, res, query) => {
    sendJson(res, contract.toKnown(await idp.getSession(...contract.explicit(query, req))))
  },
  '/unhandled': async (req, res, query) => {
    sendJson(res, await idp.getSession(...contract.explicit(query, req)))
  },
  '/update': async (req, res, query) => {
    await contract.save(idp, query, contract.explicit(query, req, res))
    sendJson(res, { ok: true })
  },
  '/app-cookie': async (req, res, query) => {
    res.appendHeader('set-cookie', 'app_before=1')
    await contract.save(idp, query, contract.explicit(query, req, res))
    res.appendHeader('set-cookie', 'app_after=1')
    sendJson(res, { ok: true })
  },
  '/token': async (req, res, query) => {
    sendJson(res, await idp.getAccessToken(...contract.explicit(query, req, res)))
  },
  '/late': (req, res, query) => {
    contract.saveLater(idp, query, contract.explicit(query, req, res))
    res.end('late')
  },
  '/late-result': async (_req, res, query) => sendJson(res, await contract.lateResult(query)),
  '/start': async (req, res, query) =>
    sendResponse(res, await contract.start(idp, query, contract.explicit(query, req, res))),
  '/connect': async (req, res, query) =>
    sendResponse(res, await contract.connect(idp, query, contract.explicit(query, req, res))),
}

async function respond(req, res) {
  const { pathname, searchParams } = new URL(req.url, 'http://localhost')
  const route = routes[pathname]
  if (route) await route(req, res, searchParams)
  else res.writeHead(404).end('not found')
}

createServer(async (req, res) => {
  try {
    await idp.middleware(req, res, () => respond(req, res))
  } catch (error) {
    sendJson(res, contract.toFailure(error), 500)
  }
}).listen(contract.port, '127.0.0.1')
