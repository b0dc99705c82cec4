// The contract application on NestJS, compiled to an ECMAScript module.
import 'reflect-metadata'
import { Module } from '@nestjs/common'
import { HttpAdapterHost, NestFactory } from '@nestjs/core'
import { IdpClient, IdpModule } from 'idp-client/nest'
import { ContractController, Failures } from './contract.controller.js'
import { createAdapter } from './platform.mjs'
import { addProxy, options, port } from './support/contract.mjs'

@Module({
  imports: [IdpModule.forRootAsync({ useFactory: async () => options })],
  controllers: [ContractController],
})
class AppModule {}

const app = await NestFactory.create(AppModule, await createAdapter(), { logger: false })
addProxy(app.get(IdpClient))
app.useGlobalFilters(new Failures(app.get(HttpAdapterHost).httpAdapter))
await app.listen(port, '127.0.0.1')
