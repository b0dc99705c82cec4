// Checks of what a measured call returns, so that no product is measured while it fails.

export async function must(response, status) {
  const { status: got } = await response
  if (got !== status) throw new Error(`bench: ${got} instead of ${status}`)
}

export async function mustFind(session) {
  if (!(await session)) throw new Error('bench: no session')
}

export async function mustFindTokens(session) {
  const { accessToken, idToken, refreshToken } = (await session).tokenSet
  if (!accessToken || !idToken || !refreshToken) throw new Error('bench: no tokens')
}
