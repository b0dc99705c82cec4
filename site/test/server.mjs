import { createReadStream, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname, join } from 'node:path'
import { base } from '../lib/places.mjs'

const types = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
}

/** Returns the file of a path as GitHub Pages chooses it: the file, the page of that name, or the index of the folder. */
export function findFile(folder, path) {
  const relative = decodeURIComponent(path.slice(base.length))
  const candidates = relative === '' || relative.endsWith('/') ? ['index.html'] : ['', '.html']
  return candidates
    .map((end) => join(folder, relative + end))
    .find((file) => file.startsWith(folder) && statSync(file, { throwIfNoEntry: false })?.isFile())
}

/** Serves a built site on a free port of the loopback address. */
export async function serveSite(folder) {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost')
    const file = pathname.startsWith(base) ? findFile(folder, pathname) : undefined
    if (file === undefined) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('not found')
      return
    }
    response.writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream' })
    createReadStream(file).pipe(response)
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${server.address().port}${base}`,
    stop: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  }
}
