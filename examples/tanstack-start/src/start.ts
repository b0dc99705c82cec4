import { createCsrfMiddleware, createMiddleware, createStart } from '@tanstack/react-start'
import { idp } from './idp.server'

const login = createMiddleware().server(idp.middleware)
const csrf = createCsrfMiddleware({ filter: ({ handlerType }) => handlerType === 'serverFn' })

export const startInstance = createStart(() => ({ requestMiddleware: [login, csrf] }))
