// Jest leaves node_modules untransformed, but these packages are ECMAScript modules.
const modules = ['idp-client', 'oauth4webapi', 'jose', 'cookie-es']
const modulesOfLogins = ['idp-dev-provider', 'oidc-provider', '@noble/hashes', '@scure/base']

module.exports = {
  // One of them has the extension .mjs, which Jest does not transform by default.
  transform: { '\\.m?[jt]sx?$': 'babel-jest' },
  transformIgnorePatterns: [`/node_modules/(?!(?:${[...modules, ...modulesOfLogins].join('|')})/)`],
  testMatch: ['**/*.test.js'],
  // The first run transforms the development provider.
  testTimeout: 60_000,
}
