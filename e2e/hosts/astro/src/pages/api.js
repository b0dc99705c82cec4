// The middleware rewrites requests for this endpoint, which exists because Astro runs middleware for existing paths.
export const GET = () => new Response('not rewritten', { status: 500 })
