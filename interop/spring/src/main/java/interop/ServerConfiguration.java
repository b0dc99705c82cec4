package interop;

import java.util.List;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.http.MediaType;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.oauth2.jwt.JwtEncoder;
import org.springframework.security.oauth2.jwt.NimbusJwtEncoder;
import org.springframework.security.oauth2.server.authorization.JdbcOAuth2AuthorizationService;
import org.springframework.security.oauth2.server.authorization.OAuth2AuthorizationService;
import org.springframework.security.oauth2.server.authorization.OAuth2TokenType;
import org.springframework.security.oauth2.server.authorization.client.JdbcRegisteredClientRepository;
import org.springframework.security.oauth2.server.authorization.config.annotation.web.configurers.OAuth2AuthorizationServerConfigurer;
import org.springframework.security.oauth2.server.authorization.settings.AuthorizationServerSettings;
import org.springframework.security.oauth2.server.authorization.token.JwtEncodingContext;
import org.springframework.security.oauth2.server.authorization.token.OAuth2TokenClaimsContext;
import org.springframework.security.oauth2.server.authorization.token.OAuth2TokenCustomizer;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.authentication.LoginUrlAuthenticationEntryPoint;
import org.springframework.security.web.util.matcher.MediaTypeRequestMatcher;

/** The server with its defaults, pushed requests and OpenID Connect switched on, state in a database. */
@Configuration
class ServerConfiguration {
  @Bean
  @Order(1)
  SecurityFilterChain protocolEndpoints(HttpSecurity http) throws Exception {
    var server = OAuth2AuthorizationServerConfigurer.authorizationServer();
    var page = new MediaTypeRequestMatcher(MediaType.TEXT_HTML);
    return http.securityMatcher(server.getEndpointsMatcher())
        .with(
            server,
            options ->
                options
                    .pushedAuthorizationRequestEndpoint(Customizer.withDefaults())
                    .oidc(Customizer.withDefaults()))
        .authorizeHttpRequests(requests -> requests.anyRequest().authenticated())
        .exceptionHandling(
            handling ->
                handling.defaultAuthenticationEntryPointFor(new LoginUrlAuthenticationEntryPoint("/login"), page))
        .build();
  }

  @Bean
  @Order(2)
  SecurityFilterChain pages(HttpSecurity http) throws Exception {
    return http.authorizeHttpRequests(
            requests -> requests.requestMatchers("/interop/**", "/error").permitAll().anyRequest().authenticated())
        .csrf(csrf -> csrf.ignoringRequestMatchers("/interop/**"))
        .formLogin(Customizer.withDefaults())
        .build();
  }

  @Bean
  UserDetailsService users(@Value("${interop.user}") String name, @Value("${interop.password}") String password) {
    return new InMemoryUserDetailsManager(User.withUsername(name).password("{noop}" + password).roles("USER").build());
  }

  @Bean
  JdbcRegisteredClientRepository clients(JdbcOperations database) {
    return new JdbcRegisteredClientRepository(database);
  }

  @Bean
  OAuth2AuthorizationService authorizations(JdbcOperations database, JdbcRegisteredClientRepository clients) {
    return new JdbcOAuth2AuthorizationService(database, clients);
  }

  @Bean
  JwtEncoder encoder(SigningKeys keys) {
    var encoder = new NimbusJwtEncoder(keys);
    encoder.setJwkSelector(candidates -> candidates.get(0));
    return encoder;
  }

  /** Access tokens name their client, and the APIs that they are for; ID tokens name the groups of the user. */
  @Bean
  OAuth2TokenCustomizer<JwtEncodingContext> claims(Groups groups) {
    return context -> {
      String clientId = context.getRegisteredClient().getClientId();
      List<String> audiences = Audiences.of(context);
      if (context.getTokenType().equals(OAuth2TokenType.ACCESS_TOKEN)) {
        context.getClaims().claim("client_id", clientId);
        if (!audiences.isEmpty()) context.getClaims().audience(audiences);
        return;
      }
      // An API must refuse ID tokens, even those that name it.
      audiences.add(0, clientId);
      context.getClaims().audience(audiences);
      List<String> named = groups.of(clientId);
      if (!named.isEmpty()) context.getClaims().claim("groups", named);
    };
  }

  /** What an introspection responds about reference tokens. */
  @Bean
  OAuth2TokenCustomizer<OAuth2TokenClaimsContext> referencedClaims() {
    return context -> {
      List<String> audiences = Audiences.of(context);
      if (!audiences.isEmpty()) context.getClaims().audience(audiences);
    };
  }

  @Bean
  AuthorizationServerSettings settings(@Value("${interop.issuer}") String issuer) {
    return AuthorizationServerSettings.builder().issuer(issuer).build();
  }
}
