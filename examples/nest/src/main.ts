import 'reflect-metadata'
import { NestFactory } from '@nestjs/core'
import { AppModule } from './app.module.js'

async function start() {
  const app = await NestFactory.create(AppModule)
  await app.listen(process.env.PORT ?? 3000, '127.0.0.1')
}

void start()
