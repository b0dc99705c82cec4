// The headers of a browser behind a proxy, and only those that decide how a request is handled.
import { origin } from './settings.mjs'

const { host } = new URL(origin)

const browser = {
  host,
  connection: 'keep-alive',
  'sec-ch-ua': '"Chromium";v="142", "Google Chrome";v="142", "Not_A Brand";v="99"',
  'sec-ch-ua-mobile': '?0',
  'sec-ch-ua-platform': '"Linux"',
  dnt: '1',
  'user-agent':
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  'sec-fetch-site': 'same-origin',
  referer: `${origin}/start?from=menu`,
  'accept-encoding': 'gzip, deflate, br, zstd',
  'accept-language': 'en-GB,en;q=0.9,de;q=0.8',
  'x-forwarded-for': '203.0.113.7',
  'x-forwarded-host': host,
  'x-forwarded-port': '443',
  'x-forwarded-proto': 'https',
}
const navigation = {
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
}
const call = { accept: '*/*', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }

/** Headers of a page and of an API request, by who sends them. A cookie is added. */
export const senders = {
  browser: {
    page: { ...browser, 'upgrade-insecure-requests': '1', 'sec-fetch-user': '?1', ...navigation },
    api: { ...browser, ...call, priority: 'u=1, i' },
  },
  'few headers': { page: navigation, api: { accept: 'application/json' } },
}
