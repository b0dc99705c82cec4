import adapter from '@sveltejs/adapter-node'

export default {
  kit: {
    adapter: adapter(),
    paths: { base: process.env.CONTRACT_BASE_PATH ?? '' },
    // The provider posts to the auth routes from its own origin, or without one; checkOrigin() protects all others.
    csrf: { trustedOrigins: ['*'] },
  },
}
