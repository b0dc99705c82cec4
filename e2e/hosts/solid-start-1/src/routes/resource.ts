import { operate } from '../operation'

export const GET = (event) => operate(event)
