package interop;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

@SpringBootApplication
public class InteropApplication {
  public static void main(String[] arguments) {
    SpringApplication.run(InteropApplication.class, arguments);
  }
}
