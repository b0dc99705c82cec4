import { operate } from '../operation'

export const GET = (event) => operate(event)
// SolidStart 1 bundles each method by itself: it cannot be another export.
export const POST = (event) => operate(event)
