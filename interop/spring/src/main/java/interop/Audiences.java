package interop;

import java.util.ArrayList;
import java.util.List;
import org.springframework.security.oauth2.server.authorization.authentication.OAuth2TokenExchangeAuthenticationToken;
import org.springframework.security.oauth2.server.authorization.token.OAuth2TokenContext;

/** The APIs that a token is for; mutable lists, as the claims of a token are stored as JSON. */
final class Audiences {
  private Audiences() {}

  /** What an exchange asked for; otherwise the API of each scope: `https://orders.example.com/` for `orders:read`. */
  static List<String> of(OAuth2TokenContext context) {
    if (context.getAuthorizationGrant() instanceof OAuth2TokenExchangeAuthenticationToken exchange
        && !exchange.getAudiences().isEmpty()) {
      return new ArrayList<>(exchange.getAudiences());
    }
    var scopes = context.getAuthorizedScopes().stream().filter(scope -> scope.contains(":"));
    var names = scopes.map(scope -> scope.substring(0, scope.indexOf(':'))).distinct();
    return new ArrayList<>(names.map(name -> "https://" + name + ".example.com/").toList());
  }
}
