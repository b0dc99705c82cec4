/** Whether access tokens are bound to a key pair of this application (DPoP): `npm run demo -- --dpop`. */
export const boundTokens: boolean = process.env['DEMO_DPOP'] === '1'
