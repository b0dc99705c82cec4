// The other way: no transform at all, Node's own modules. Needs NODE_OPTIONS=--experimental-vm-modules.
module.exports = { transform: {}, testMatch: ['**/*.native.js'] }
