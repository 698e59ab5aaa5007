package evenhand.slurm;

import evenhand.cycle.Cluster;
import java.time.Clock;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Makes Slurm the service's cluster where {@code evenhand.cluster=slurm}. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = "evenhand.cluster", havingValue = "slurm")
@EnableConfigurationProperties(SlurmSettings.class)
public class SlurmConfiguration {

  @Bean
  Cluster slurmCluster(SlurmSettings settings, Clock clock) {
    return new SlurmCluster(settings, clock);
  }
}
