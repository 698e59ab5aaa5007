package evenhand.slurm;

import evenhand.cycle.Cluster;
import evenhand.cycle.Store;
import evenhand.cycle.Token;
import java.time.Clock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Makes Slurm the service's cluster where {@code evenhand.cluster=slurm}; what Slurm would object
 * to is known for every cluster, so that a simulated one takes no job that the real one would not.
 */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(SlurmSettings.class)
public class SlurmConfiguration {
  private static final Logger log = LoggerFactory.getLogger(SlurmConfiguration.class);

  @Bean
  Outputs outputs(SlurmSettings settings) {
    return new Outputs(settings);
  }

  @Bean
  Objections objections(SlurmSettings settings) {
    return new Objections(settings);
  }

  @Bean
  @ConditionalOnProperty(name = "evenhand.cluster", havingValue = "slurm")
  Cluster slurmCluster(SlurmSettings settings, Clock clock, ObjectProvider<Store> store) {
    if (settings.asUser()) {
      return new SlurmCluster(settings, clock, token -> userOf(store.getObject(), token));
    }
    if ("root".equals(System.getProperty("user.name"))) {
      log.warn(
          "Jobs run on Slurm as the user of this service, and that is root: whoever may submit a job"
              + " may do anything on the nodes. Run the service as a user of its own.");
    }
    return new SlurmCluster(settings, clock);
  }

  private static String userOf(Store store, Token token) {
    if (!token.installation().equals(store.installation())) {
      return null; // of another service on this cluster
    }
    try {
      return store.submitOrder(token).user();
    } catch (IllegalArgumentException e) {
      return null;
    }
  }
}
