// Jest leaves node_modules untransformed, but these packages are ECMAScript modules.
const modules = ['idp-client', 'oauth4webapi', 'jose', 'cookie-es']

module.exports = {
  // One of them has the extension .mjs, which Jest does not transform by default.
  transform: { '\\.m?[jt]sx?$': 'babel-jest' },
  transformIgnorePatterns: [`/node_modules/(?!(?:${modules.join('|')})/)`],
  testMatch: ['**/*.test.js'],
}
