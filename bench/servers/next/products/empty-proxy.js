import { NextResponse } from 'next/server'

export const handle = () => NextResponse.next()
export const getSession = async () => null
