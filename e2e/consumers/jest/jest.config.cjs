// Jest leaves node_modules untransformed, but these packages are ECMAScript modules.
const modules = ['idp-client', 'oauth4webapi', 'jose', 'cookie-es']

module.exports = {
  transformIgnorePatterns: [`/node_modules/(?!(?:${modules.join('|')})/)`],
  testMatch: ['**/*.test.js'],
}
