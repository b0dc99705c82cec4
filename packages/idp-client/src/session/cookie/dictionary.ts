import type { Bytes } from '../../lib/utf8.ts'
import { utf8 } from '../../lib/utf8.ts'

/**
 * Text that claims and the details of a session are likely to contain, as JSON: the preset dictionary of version 2 of the
 * session cookie. It is part of the format: cookies that were compressed with another dictionary cannot be read. Texts near
 * the end take the fewest bits.
 */
export const DICTIONARY: Bytes = utf8(
  [
    // Claims of Microsoft Entra ID, Okta, Keycloak, Auth0 and Google.
    '"scp":["openid","profile","email","offline_access"],"uid":"","idp":"","rh":"0.","uti":"","tid":"","oid":"',
    'https://login.microsoftonline.com/","ver":"2.0","ver":1,.okta.com/oauth2/default","cid":"',
    '"allowed-origins":["https://"realm_access":{"roles":["offline_access","default-roles-',
    'uma_authorization"]},"resource_access":{"account":{"roles":["manage-account","manage-account-links","view-profile"]}},',
    '?s=480&r=pg&d=https%3A%2F%2Fcdn.auth0.com%2Favatars%2F","picture":"https://lh3.googleusercontent.com/a/',
    's.gravatar.com/avatar/=s96-c",.apps.googleusercontent.com",',
    // OpenID Connect Core sections 2 and 5.1, RFC 9068.
    '"zoneinfo":""locale":"en"org_id":"org_"groups":["roles":["permissions":["read:',
    '"amr":["pwd","mfa","otp"],"acr":"1","auth_time":18"nbf":18"jti":"","typ":"ID","typ":"Bearer","azp":"","client_id":"',
    '"at_hash":""preferred_username":""nickname":"","given_name":"","family_name":"","updated_at":"2026-01-0T00:00:00.000Z",',
    '"email":".com","email_verified":true,.png","name":"","nonce":"","sid":""aud":["https://api./userinfo"],',
    '"scope":"openid profile email offline_access",',
    '.example.com/v2.0"/realms/"sub":"auth0|"aud":""iss":"https://"iat":18"exp":18',
    // Headers of RFC 7515 and RFC 9068.
    '{"typ":"JWT","alg":"{"alg":"ES256","typ":"at+jwt","kid":"{"alg":"RS256","typ":"JWT","kid":"',
    // `Details` of the codec.
    '}{"s":{"accessToken":0,"expiresAt":18,"token_type":"Bearer","refreshToken":1,',
    '"scope":"openid profile email offline_access","requestedScope":"openid profile email offline_access","idToken":2},',
    '"i":"","t":[[3,[0,[2,[4,256]]}',
  ].join(''),
)
