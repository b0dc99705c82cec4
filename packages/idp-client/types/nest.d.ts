/** The types of NestJS that the adapter uses. NestJS is not installed here; applications get its own types. */
declare module '@nestjs/common' {
  export interface ExecutionContext {
    getType(): string
    switchToHttp(): { getRequest<T>(): T; getResponse<T>(): T }
  }
  export interface CanActivate {
    canActivate(context: ExecutionContext): Promise<boolean>
  }
  export interface PipeTransform {
    transform(value: unknown): unknown
  }

  type Class = new (...args: never[]) => object
  export interface FactoryProvider {
    provide: Class
    inject?: readonly (Class | string | symbol)[]
    useFactory(...dependencies: never[]): unknown
  }
  export interface ValueProvider {
    provide: symbol
    useValue: unknown
  }
  export interface DynamicModule {
    module: Class
    global?: boolean
    imports?: readonly (Class | DynamicModule | Promise<DynamicModule>)[]
    providers?: readonly (FactoryProvider | ValueProvider)[]
    exports?: readonly Class[]
  }

  export function createParamDecorator<T>(
    factory: (data: unknown, context: ExecutionContext) => T,
  ): (pipe: Class) => ParameterDecorator
  export function Inject(token: Class): ParameterDecorator
  export function Injectable(): ClassDecorator
  export function Module(metadata: object): ClassDecorator
  export function UseGuards(guard: Class): ClassDecorator & MethodDecorator
}

declare module '@nestjs/core' {
  export class HttpAdapterHost {
    /** None yet while a test creates modules, and in an application without a server. */
    readonly httpAdapter: { getInstance<T>(): T } | null | undefined
    /** Emits when there is one; since NestJS 11. */
    readonly init$?: { subscribe(next: () => void): unknown }
  }
}
