package interop;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.stereotype.Component;

/** The groups in the ID tokens of each client. */
@Component
class Groups {
  private final Map<String, List<String>> byClient = new ConcurrentHashMap<>();

  List<String> of(String clientId) {
    return byClient.getOrDefault(clientId, List.of());
  }

  /** The claims of a token are stored as JSON, which takes no immutable list. */
  void set(String clientId, List<String> groups) {
    byClient.put(clientId, new ArrayList<>(groups));
  }
}
