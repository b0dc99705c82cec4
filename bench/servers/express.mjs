// node servers/express.mjs <product> <port>: an Express application behind the middleware of one product.
import { createExpressApp } from '../lib/express.mjs'

const [product, port] = process.argv.slice(2)
const app = await createExpressApp(product)
app.listen(Number(port), '127.0.0.1', () => console.log('Ready'))
