package interop;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSelector;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jose.jwk.source.JWKSource;
import com.nimbusds.jose.proc.SecurityContext;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.ParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;

/** The keys that tokens are signed with, newest first; kept in a file, so that they outlive a restart. */
@Component
class SigningKeys implements JWKSource<SecurityContext> {
  private final Path file;
  private volatile List<JWK> keys;

  SigningKeys(@Value("${interop.keys}") Path file) throws IOException, JOSEException, ParseException {
    this.file = file;
    this.keys =
        Files.exists(file)
            ? JWKSet.load(file.toFile()).getKeys()
            : List.of(rsaKey(), ecKey(Curve.P_256, JWSAlgorithm.ES256), ecKey(Curve.P_384, JWSAlgorithm.ES384));
    save();
  }

  @Override
  public List<JWK> get(JWKSelector selector, SecurityContext context) {
    return selector.select(new JWKSet(keys));
  }

  /** Signs with a new RSA key from now on; the old one stays published. */
  synchronized void rotate() throws JOSEException {
    List<JWK> rotated = new ArrayList<>(List.of(rsaKey()));
    rotated.addAll(keys);
    keys = List.copyOf(rotated);
    save();
  }

  private void save() {
    try {
      Files.writeString(file, new JWKSet(keys).toString(false));
    } catch (IOException exception) {
      throw new UncheckedIOException(exception);
    }
  }

  private static JWK rsaKey() throws JOSEException {
    return new RSAKeyGenerator(2048).keyID(UUID.randomUUID().toString()).generate();
  }

  private static JWK ecKey(Curve curve, JWSAlgorithm algorithm) throws JOSEException {
    return new ECKeyGenerator(curve).keyID(UUID.randomUUID().toString()).algorithm(algorithm).generate();
  }
}
