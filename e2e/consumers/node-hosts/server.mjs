// node server.mjs <host>: the application on one host, for logins at the development provider.
import { createServer } from 'node:http'
import { IdpClient } from 'idp-client/express'
import { hosts } from './hosts.mjs'

const listener = await hosts[process.argv[2]](new IdpClient())
createServer(listener).listen(Number(process.env.PORT), '127.0.0.1', () => console.log('ready'))
