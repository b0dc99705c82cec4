package interop;

import com.nimbusds.jose.JOSEException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.springframework.security.oauth2.core.AuthorizationGrantType;
import org.springframework.security.oauth2.core.ClientAuthenticationMethod;
import org.springframework.security.oauth2.jose.jws.SignatureAlgorithm;
import org.springframework.security.oauth2.server.authorization.client.RegisteredClient;
import org.springframework.security.oauth2.server.authorization.client.RegisteredClientRepository;
import org.springframework.security.oauth2.server.authorization.settings.ClientSettings;
import org.springframework.security.oauth2.server.authorization.settings.OAuth2TokenFormat;
import org.springframework.security.oauth2.server.authorization.settings.TokenSettings;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** What an administrator does, for the scenarios. */
@RestController
class InteropController {
  /** A client to register; `jwksUrl` and `assertionAlgorithm` belong to `private_key_jwt`. */
  record Registration(
      String method,
      String secret,
      String jwksUrl,
      String assertionAlgorithm,
      String idTokenAlgorithm,
      long accessTokenSeconds,
      boolean referenceTokens,
      List<String> scopes,
      List<String> apps) {}

  record Lifetime(long accessTokenSeconds) {}

  record Registered(String clientId) {}

  private final RegisteredClientRepository clients;
  private final Groups groups;
  private final SigningKeys keys;

  InteropController(RegisteredClientRepository clients, Groups groups, SigningKeys keys) {
    this.clients = clients;
    this.groups = groups;
    this.keys = keys;
  }

  @PostMapping("/interop/clients")
  Registered register(@RequestBody Registration wanted) {
    String id = UUID.randomUUID().toString();
    var client =
        RegisteredClient.withId(id)
            .clientId("client-" + id)
            .clientSecret(wanted.secret() == null ? null : "{noop}" + wanted.secret())
            .clientAuthenticationMethod(new ClientAuthenticationMethod(wanted.method()))
            .authorizationGrantType(AuthorizationGrantType.AUTHORIZATION_CODE)
            .authorizationGrantType(AuthorizationGrantType.REFRESH_TOKEN)
            .authorizationGrantType(AuthorizationGrantType.TOKEN_EXCHANGE)
            .authorizationGrantType(AuthorizationGrantType.CLIENT_CREDENTIALS)
            .scopes(scopes -> scopes.addAll(wanted.scopes()))
            .clientSettings(clientSettings(wanted))
            .tokenSettings(tokenSettings(wanted));
    for (String app : wanted.apps()) client.redirectUri(app + "/auth/callback").postLogoutRedirectUri(app);
    RegisteredClient registered = client.build();
    clients.save(registered);
    return new Registered(registered.getClientId());
  }

  @PostMapping("/interop/clients/{clientId}")
  void setLifetime(@PathVariable String clientId, @RequestBody Lifetime wanted) {
    RegisteredClient client = clients.findByClientId(clientId);
    var tokens =
        TokenSettings.withSettings(client.getTokenSettings().getSettings())
            .accessTokenTimeToLive(Duration.ofSeconds(wanted.accessTokenSeconds()))
            .build();
    clients.save(RegisteredClient.from(client).tokenSettings(tokens).build());
  }

  @PostMapping("/interop/clients/{clientId}/groups")
  void setGroups(@PathVariable String clientId, @RequestBody List<String> wanted) {
    groups.set(clientId, wanted);
  }

  @PostMapping("/interop/keys")
  void rotateKeys() throws JOSEException {
    keys.rotate();
  }

  private static ClientSettings clientSettings(Registration wanted) {
    var settings = ClientSettings.builder().requireProofKey(true).requireAuthorizationConsent(false);
    if (wanted.jwksUrl() == null) return settings.build();
    return settings
        .jwkSetUrl(wanted.jwksUrl())
        .tokenEndpointAuthenticationSigningAlgorithm(SignatureAlgorithm.from(wanted.assertionAlgorithm()))
        .build();
  }

  private static TokenSettings tokenSettings(Registration wanted) {
    var settings =
        TokenSettings.builder()
            .reuseRefreshTokens(false)
            .accessTokenFormat(
                wanted.referenceTokens() ? OAuth2TokenFormat.REFERENCE : OAuth2TokenFormat.SELF_CONTAINED)
            .accessTokenTimeToLive(Duration.ofSeconds(wanted.accessTokenSeconds()));
    if (wanted.idTokenAlgorithm() != null) {
      settings.idTokenSignatureAlgorithm(SignatureAlgorithm.from(wanted.idTokenAlgorithm()));
    }
    return settings.build();
  }
}
