package evenhand.service;

import evenhand.input.Spelling;
import evenhand.policy.PolicyFault;
import evenhand.policy.RuleFiles;
import evenhand.rollout.Shadow;
import evenhand.slurm.SlurmSettings;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.util.unit.DataSize;

/**
 * Looks at all settings before anything is started, so that a wrong one leaves nothing behind; all
 * faults found are told at once.
 */
final class SettingsCheck {
  private static final Logger LOG = LoggerFactory.getLogger(SettingsCheck.class);
  private static final Duration LONGEST = Duration.ofDays(3653);
  private static final Duration SHORTEST_KEEP = Duration.ofHours(1);
  private static final int HIGHEST_PORT = 65_535;

  private final ConfigurableEnvironment environment;
  private final List<String> faults = new ArrayList<>();
  private final List<String> doubts = new ArrayList<>();
  private final Set<String> unread = new HashSet<>();

  private SettingsCheck(ConfigurableEnvironment environment) {
    this.environment = environment;
  }

  /** Before the database, which is started by an initializer as well. */
  @Order(0)
  static final class Initializer
      implements ApplicationContextInitializer<ConfigurableApplicationContext> {
    @Override
    public void initialize(ConfigurableApplicationContext context) {
      check(context.getEnvironment()).forEach(doubt -> LOG.warn("Setting {}", doubt));
      Security.completes(context.getEnvironment());
      listen(context.getEnvironment());
    }
  }

  /**
   * @return what is probably wrong, a sentence each
   * @throws StartFault with a line for each fault
   */
  static List<String> check(ConfigurableEnvironment environment) {
    SettingsCheck check = new SettingsCheck(environment);
    for (SettingNames.Unread unread : new SettingNames().unread(environment)) {
      (unread.sure() ? check.faults : check.doubts).add(unread.sentence());
      check.unread.add(SettingNames.letters(unread.name()));
    }
    check.values();
    if (!check.faults.isEmpty()) {
      throw StartFault.ofSettings(
          check.faults.stream().distinct().collect(Collectors.joining("\n")));
    }
    return check.doubts;
  }

  /** Takes down what cannot be read, and goes on with the default in its place. */
  private final class Collecting implements BindHandler {
    @Override
    public Object onFailure(
        ConfigurationPropertyName name, Bindable<?> target, BindContext context, Exception e) {
      ConfigurationProperty property = context.getConfigurationProperty();
      if (property == null
          || !unread.contains(SettingNames.letters(property.getName().toString()))) {
        faults.add(StartFaults.sentence(name, target, property, e));
      }
      return null;
    }
  }

  private <T> T read(String name, Class<T> type) {
    return Binder.get(environment, new Collecting()).bindOrCreate(name, type);
  }

  private <T> T read(String name, Class<T> type, T otherwise) {
    return Binder.get(environment, new Collecting()).bind(name, type).orElse(otherwise);
  }

  /**
   * Tries whether the port is free, which is told at once and not after the rules are compiled.
   *
   * @throws StartFault when it is not
   */
  private static void listen(ConfigurableEnvironment environment) {
    Binder binder = Binder.get(environment);
    int port = binder.bind("server.port", Integer.class).orElse(8080);
    InetAddress address = binder.bind("server.address", InetAddress.class).orElse(null);
    if (port == 0) {
      return;
    }
    try (ServerSocket socket = new ServerSocket()) {
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(address, port), 1);
    } catch (IOException e) {
      throw StartFaults.cannotListen(
          port, environment.getProperty("server.address", "this host"), e);
    }
  }

  private void values() {
    // What is missing may be there under a name that is spelt wrong, which is told already.
    boolean allNamesRight = faults.isEmpty();
    Settings settings = read("evenhand", Settings.class);
    SlurmSettings slurm = read("evenhand.slurm", SlurmSettings.class);
    long body = read("evenhand.api.max-body", DataSize.class, DataSize.ofMegabytes(2)).toBytes();
    between("evenhand.api.max-body", body, 1024, 1 << 30, " bytes");
    time(
        "evenhand.api.body-within",
        read("evenhand.api.body-within", Duration.class, Duration.ofSeconds(10)));
    port("server.port", read("server.port", Integer.class, 0));
    port("evenhand.database-port", read("evenhand.database-port", Integer.class, 0));
    read("server.address", InetAddress.class, null);
    database();
    text("evenhand.cluster-name", settings.clusterName());
    text("evenhand.data-dir", environment.getProperty("evenhand.data-dir", "data"));
    atLeast("evenhand.keep", settings.keep(), SHORTEST_KEEP);
    time("evenhand.rules-look", settings.rulesLook());
    cycle(settings.cycle());
    submission(settings.submission());
    router(settings.router());
    count(
        "evenhand.events.max-clients", read("evenhand.events.max-clients", Integer.class, 200), 1);
    policy(settings);
    for (String name : List.of("requests-per-minute", "jobs-per-user")) {
      count("evenhand.api." + name, read("evenhand.api." + name, Integer.class, 0), 0);
    }
    // These two words are told also where a name is wrong, and each beside the other.
    told(() -> Mode.of(environment));
    told(() -> Security.isOn(environment));
    if (allNamesRight) {
      told(settings::hooks);
      told(() -> site(settings, slurm));
    }
  }

  /** What depends on whose cluster it is. */
  private void site(Settings settings, SlurmSettings slurm) {
    Mode mode = Mode.of(environment);
    if (!Security.isOn(environment) && !Security.listensOnLoopback(environment)) {
      wrong(
          "evenhand.security",
          "off",
          "that may be only where the service listens on loopback, and server.address is "
              + environment.getProperty("server.address", "every address of this host"));
    }
    if (mode != Mode.DEMO) {
      told(() -> settings.checkCluster(mode));
    }
    if (mode == Mode.SLURM) {
      slurm(slurm);
    }
  }

  private void told(Runnable look) {
    try {
      look.run();
    } catch (IllegalArgumentException e) {
      faults.add(e.getMessage());
    }
  }

  private void cycle(Settings.CycleSetting cycle) {
    time("evenhand.cycle.interval", cycle.interval());
    time("evenhand.cycle.lease", cycle.lease());
    time("evenhand.cycle.stale-after", cycle.staleAfter());
    if (cycle.lookback() != null) {
      time("evenhand.cycle.lookback", cycle.lookback());
    }
    atLeast("evenhand.cycle.gone-after", cycle.goneAfter(), Duration.ZERO);
    count("evenhand.cycle.gone-readings", cycle.goneReadings(), 1);
    count("evenhand.cycle.max-node-failures", cycle.maxNodeFailures(), 0);
    count("evenhand.cycle.max-attempts", cycle.maxAttempts(), 1);
    count("evenhand.cycle.orders-per-cycle", cycle.ordersPerCycle(), 1);
  }

  private void submission(Settings.SubmissionSetting submission) {
    time("evenhand.submission.pause", submission.pause());
    atLeast("evenhand.submission.max-pause", submission.maxPause(), submission.pause());
    count("evenhand.submission.max-tries", submission.maxTries(), 1);
    time("evenhand.submission.give-up-after", submission.giveUpAfter());
    time("evenhand.submission.pending-limit", submission.pendingLimit());
    atLeast("evenhand.submission.slack", submission.slack(), Duration.ZERO);
    count("evenhand.submission.failures-per-cycle", submission.failuresPerCycle(), 1);
  }

  private void router(Settings.RouterSetting router) {
    time("evenhand.router.timeout", router.timeout());
    time("evenhand.router.max-age", router.maxAge());
    count("evenhand.router.capacity", router.capacity(), 1);
    URI url = router.url();
    if (url == null || url.toString().isEmpty()) {
      return;
    }
    boolean http =
        "http".equalsIgnoreCase(url.getScheme()) || "https".equalsIgnoreCase(url.getScheme());
    if (!http || url.getHost() == null || url.getQuery() != null || url.getFragment() != null) {
      wrong(
          "evenhand.router.url",
          url,
          "it must be the address of an HTTP service, e.g. http://llm-router:9000");
    }
  }

  private void policy(Settings settings) {
    RuleFiles files = RuleFiles.of(settings.rulesFolder());
    try {
      List<String> names = files.policies();
      if (!names.contains(settings.policy())) {
        wrong(
            "evenhand.policy",
            settings.policy(),
            "no policy in "
                + files.where()
                + " has that name; "
                + Spelling.hint(settings.policy(), names));
      }
      String shadow = settings.shadow() == null ? "" : settings.shadow().strip();
      if (!shadow.isEmpty()
          && !shadow.equals(Shadow.OFF)
          && !shadow.startsWith("sha256:")
          && !names.contains(shadow)) {
        wrong(
            "evenhand.shadow",
            shadow,
            "it must be off, the hash of a policy that was planned (sha256:...), or the name of one in "
                + files.where()
                + "; "
                + Spelling.hint(shadow, names));
      }
    } catch (PolicyFault e) {
      wrong(
          "evenhand.rules",
          files.where(),
          "it must be a folder of rules, with policies/*.yaml in it");
    }
  }

  private void database() {
    String url = environment.getProperty("spring.datasource.url", "").strip();
    if (!url.isEmpty() && !url.startsWith("jdbc:postgresql:")) {
      wrong(
          "spring.datasource.url",
          url.replaceAll("\\?.*", ""),
          "it must be the address of a PostgreSQL, e.g. jdbc:postgresql://db.example.org/evenhand");
    }
  }

  private void slurm(SlurmSettings slurm) {
    if (slurm.conf() != null && !Files.isReadable(slurm.conf())) {
      wrong("evenhand.slurm.conf", slurm.conf(), "it must be a slurm.conf that may be read");
    }
    if (slurm.bin() != null && !Files.isDirectory(slurm.bin())) {
      wrong("evenhand.slurm.bin", slurm.bin(), "it must be the folder of sbatch and its kin");
    }
    time("evenhand.slurm.timeout", slurm.timeout());
    if (slurm.submitAs() == SlurmSettings.SubmitAs.USER
        && !"root".equals(System.getProperty("user.name"))) {
      wrong(
          "evenhand.slurm.submit-as",
          "user",
          "for that the service has to be root, and it is "
              + System.getProperty("user.name")
              + "; else set it to service");
    }
    if (slurm.submitAs() == SlurmSettings.SubmitAs.USER && !Security.isOn(environment)) {
      wrong(
          "evenhand.slurm.submit-as",
          "user",
          "for that evenhand.security has to be on: else anybody could name anybody");
    }
    count("evenhand.slurm.details-per-reading", slurm.detailsPerReading(), 1);
  }

  private void time(String name, Duration value) {
    if (value.isZero() || value.isNegative() || value.compareTo(LONGEST) > 0) {
      wrong(
          name, said(name, value), "it must be longer than nothing and at most ten years, e.g. 5s");
    }
  }

  private void atLeast(String name, Duration value, Duration least) {
    if (value.compareTo(least) < 0 || value.compareTo(LONGEST) > 0) {
      wrong(
          name,
          said(name, value),
          "it must be at least "
              + (least.isZero() ? "0s" : least.toSeconds() + "s")
              + " and at most ten years");
    }
  }

  private void count(String name, int value, int least) {
    if (value < least) {
      wrong(name, value, "it must be at least " + least);
    }
  }

  private void between(String name, long value, long least, long most, String unit) {
    if (value < least || value > most) {
      wrong(name, said(name, value), "it must be from " + least + " to " + most + unit);
    }
  }

  private void port(String name, int value) {
    between(name, value, 0, HIGHEST_PORT, ", 0 for any free one");
  }

  private void text(String name, String value) {
    if (value == null || value.isBlank()) {
      faults.add(name + " is empty; leave it out for the default");
    }
  }

  /** As it was written, where that is known. */
  private Object said(String name, Object value) {
    String written = environment.getProperty(name);
    return written == null ? value : written;
  }

  private void wrong(String name, Object value, String right) {
    faults.add(name + " is \"" + value + "\"; " + right);
  }
}
