import adapter from '@sveltejs/adapter-node'

export default {
  kit: {
    adapter: adapter(),
    // The provider posts to the auth routes from its own origin, or without one; checkOrigin() protects all others.
    csrf: { trustedOrigins: ['*'] },
  },
}
