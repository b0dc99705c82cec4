import { Module } from '@nestjs/common'
import { IdpModule } from 'idp-client/nest'
import { PagesController } from './pages.controller.js'

@Module({
  imports: [IdpModule.forRoot({ allowInsecureRequests: process.env.NODE_ENV !== 'production' })],
  controllers: [PagesController],
})
export class AppModule {}
