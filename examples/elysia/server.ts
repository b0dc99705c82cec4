import { app } from './app.ts'

app.listen({ hostname: '127.0.0.1', port: Number(process.env.PORT ?? 3000) })
