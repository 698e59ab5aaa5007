package evenhand.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.SimpleCommandLinePropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.FileSystemResource;

/** What is set wrong is told before anything is started: setting, value, what would be right. */
class SettingsCheckTest {
  @TempDir Path folder;

  private static StandardEnvironment environment(Map<String, Object> variables, String... arguments)
      throws Exception {
    StandardEnvironment environment = new StandardEnvironment();
    environment.getPropertySources().remove("systemProperties");
    environment
        .getPropertySources()
        .replace(
            "systemEnvironment",
            new SystemEnvironmentPropertySource("systemEnvironment", variables));
    environment.getPropertySources().addFirst(new SimpleCommandLinePropertySource(arguments));
    new YamlPropertySourceLoader()
        .load("application.yaml", new ClassPathResource("application.yaml"))
        .forEach(environment.getPropertySources()::addLast);
    return environment;
  }

  private static StartFault fault(StandardEnvironment environment) {
    StartFault fault =
        catchThrowableOfType(StartFault.class, () -> SettingsCheck.check(environment));
    assertThat(fault).isNotNull();
    assertThat(fault.where()).isEqualTo(StartFault.Where.SETTINGS);
    assertThat(fault.getMessage()).doesNotContain("Exception", "springframework", "java.");
    return fault;
  }

  @Test
  void allThatApplicationYamlListsIsKnownAndRight() throws Exception {
    assertThatCode(() -> SettingsCheck.check(environment(Map.of()))).doesNotThrowAnyException();
    String yaml = new String(new ClassPathResource("application.yaml").getContentAsByteArray());
    assertThat(new SettingNames().known())
        .allSatisfy(name -> assertThat(yaml).contains(name.substring(name.lastIndexOf('.') + 1)));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--evenhand.polisy=x | evenhand.polisy | evenhand.policy?",
        "--evenhand.cycle.intervall=1s | evenhand.cycle.intervall | evenhand.cycle.interval?",
        "--evenhand.tiers[0].sortorder2=1 | evenhand.tiers[0].sortorder2 | tiers.sort-order?",
        "--evenhand.slurm.binn=x | evenhand.slurm.binn | evenhand.slurm.bin?",
        "--evnhand.policy=x | evnhand.policy | evenhand.policy?",
        "--policy=skip | policy | evenhand.policy?",
        "--port=9 | port | server.port",
        "--evenhand.cycle=off | evenhand.cycle | evenhand.cycle.enabled",
        "--evenhand.keep=0s | evenhand.keep | at least 3600s",
        "--evenhand.keep=-1d | -1d | at least 3600s",
        "--evenhand.cycle.interval=0s | evenhand.cycle.interval | longer than nothing",
        "--evenhand.cycle.interval=soon | soon | such as 500ms, 5s",
        "--evenhand.cycle.lease=999999d | 999999d | ten years",
        "--evenhand.cycle.max-attempts=0 | \"0\" | at least 1",
        "--evenhand.cycle.max-attempts=many | many | a whole number",
        "--evenhand.cycle.enabled=perhaps | perhaps | true or false",
        "--evenhand.submission.max-pause=1s | evenhand.submission.max-pause | at least 30s",
        "--evenhand.router.url=ftp://x | ftp://x | HTTP service",
        "--evenhand.router.url=llm-router:9000 | llm-router:9000 | http://",
        "--evenhand.router.url=http:///x | http:///x | HTTP service",
        "--evenhand.router.capacity=0 | evenhand.router.capacity | at least 1",
        "--evenhand.policy=reservaton | reservaton | did you mean reservation?",
        "--evenhand.rules=/nowhere | /nowhere | folder of rules",
        "--evenhand.cluster=pbs | pbs | slurm or simulated",
        "--evenhand.cluster=slurm | evenhand.tiers | is empty",
        "--evenhand.tiers[0].name=4090 | evenhand.cluster | slurm or simulated",
        "--evenhand.slurm.accounting=maybe | maybe | auto, on, off",
        "--evenhand.slurm.sbatch-options=mem=4G | mem=4G | --name=value",
        "--evenhand.events.max-clients=0 | evenhand.events.max-clients | at least 1",
        "--evenhand.webhooks[0].url=chat | evenhand.webhooks[0].url | https://",
        "--evenhand.webhooks[0].name=chat | evenhand.webhooks[0].url | https://",
        "--evenhand.keep[0]=30d | evenhand.keep[0] | evenhand.keep is one value",
        "--evenhand.cycle.interval[1]=5s | interval[1] | evenhand.cycle.interval is one value",
        "--evenhand.api.max-body=huge | huge | 2MB",
        "--evenhand.api.max-body=1B | 1B | from 1024",
        "--server.adress=0.0.0.0 | server.adress | server.address?",
        "--server.ssl.certifcate=x | server.ssl.certifcate | server.ssl.certificate?",
        "--server.tomcat.max-http-post-size=1MB | max-http-post-size | server.tomcat.max-http-form-post-size",
        "--spring.datasource.usrname=x | spring.datasource.usrname | spring.datasource.username?",
        "--spring.datasource.hikari.maximumPoolSise=9 | maximumPoolSise | maximum-pool-size?",
        "--logging.structured.format.consol=ecs | consol | logging.structured.format.console?",
        "--management.endpoints.web.exposure.includ=x | includ | management.endpoints.web.exposure.include?",
        "--server.port=99999 | 99999 | 65535",
        "--server.port=http | http | a whole number",
        "--spring.datasource.url=db:5432 | db:5432 | jdbc:postgresql://"
      })
  void whatIsSetWrongIsNamedWithWhatWouldBeRight(String argument, String named, String right)
      throws Exception {
    assertThat(fault(environment(Map.of(), argument)).getMessage()).contains(named, right);
  }

  @Test
  void allThatIsSetWrongIsToldAtOnce() throws Exception {
    String[] wrong = {
      "--evenhand.cycle.interval=often",
      "--evenhand.cycle.lease=0s",
      "--evenhand.cycle.enabled=maybe",
      "--evenhand.policy=budgt",
      "--evenhand.slurm.least-uid=few",
      "--evenhand.slurm.preempt-signal=hang up",
      "--evenhand.webhooks[0].kinds=finnished",
      "--evenhand.webhooks[1].url=irc://x",
      "--server.port=web",
      "--evenhand.cluster=simulated",
      "--evenhand.tiers[0].name=a",
      "--evenhand.tiers[1].name=b",
      "--evenhand.tiers[1].sort-order=1",
      "--evenhand.nodes[0].name=n1",
    };
    assertThat(fault(environment(Map.of(), wrong)).getMessage().lines())
        .hasSize(16)
        .doesNotHaveDuplicates()
        .anySatisfy(line -> assertThat(line).contains("interval", "often", "such as 500ms"))
        .anySatisfy(line -> assertThat(line).contains("evenhand.cycle.lease", "longer than"))
        .anySatisfy(line -> assertThat(line).contains("enabled", "maybe", "true or false"))
        .anySatisfy(line -> assertThat(line).contains("budgt", "did you mean budget?"))
        .anySatisfy(line -> assertThat(line).contains("least-uid", "few", "a whole number"))
        .anySatisfy(line -> assertThat(line).contains("preempt-signal", "hang up"))
        .anySatisfy(line -> assertThat(line).contains("webhooks[0].url is missing"))
        .anySatisfy(line -> assertThat(line).contains("webhooks[0].kinds", "finished?"))
        .anySatisfy(line -> assertThat(line).contains("webhooks[1].url"))
        .anySatisfy(line -> assertThat(line).contains("server.port", "web", "a whole number"))
        .anySatisfy(line -> assertThat(line).contains("tiers[0].sort-order is missing"))
        .anySatisfy(line -> assertThat(line).contains("tiers[0].tflops is missing"))
        .anySatisfy(line -> assertThat(line).contains("tiers[1].tflops is missing"))
        .anySatisfy(line -> assertThat(line).contains("evenhand.accounts is empty"))
        .anySatisfy(line -> assertThat(line).contains("nodes[0].tier"))
        .anySatisfy(line -> assertThat(line).contains("nodes[0].gpus is 0"));
    assertThat(
            fault(
                    environment(
                        Map.of(),
                        "--evenhand.cluster=cloud",
                        "--evenhand.security=maybe",
                        "--evenhand.cycle.intervall=5s"))
                .getMessage()
                .lines())
        .hasSize(3)
        .anySatisfy(line -> assertThat(line).contains("cloud", "slurm or simulated"))
        .anySatisfy(line -> assertThat(line).contains("maybe", "on or off"))
        .anySatisfy(line -> assertThat(line).contains("intervall"));
    // What is missing may stand under the name that is no setting, and is not told as missing.
    assertThat(
            fault(
                    environment(
                        Map.of(),
                        "--evenhand.cluster=slurm",
                        "--evenhand.teirs[0].name=a",
                        "--evenhand.keep=0s"))
                .getMessage()
                .lines())
        .hasSize(2)
        .anySatisfy(line -> assertThat(line).contains("teirs"))
        .anySatisfy(line -> assertThat(line).contains("evenhand.keep", "at least 3600s"));
  }

  @Test
  void namesOfLibrariesAreKnownHoweverTheyAreWrittenAndDoubtedWhereNothingIsLikeThem()
      throws Exception {
    String[] right = {
      "--server.maxHttpRequestHeaderSize=9KB",
      "--logging.level.evenhand.cycle=debug",
      "--spring.main.sources=x",
      "--spring.config.additional-location=optional:file:/nowhere/x.yaml",
      "--spring.datasource.hikari.data-source-properties.socketTimeout=5",
      "--spring.security.oauth2.resourceserver.jwt.audiences[0]=evenhand",
      "--management.metrics.tags.site=a",
      "--management.endpoints.web.exposure.include=health"
    };
    Map<String, Object> variables =
        Map.of(
            "SPRING_DATASOURCE_PASSWORD",
            "x",
            "SERVER_SOFTWARE",
            "x",
            "LOGGING_LEVEL_ROOT",
            "warn");
    assertThat(SettingsCheck.check(environment(variables, right))).isEmpty();
    StandardEnvironment doubtful =
        environment(
            Map.of("SPRING_DATASOURCE_PASWORD", "x"),
            "--spring.mail.host=x",
            "--server.colour=red");
    assertThat(SettingsCheck.check(doubtful))
        .containsExactlyInAnyOrder(
            "SPRING_DATASOURCE_PASWORD is the variable of no setting; did you mean"
                + " SPRING_DATASOURCE_PASSWORD?",
            "spring.mail.host is described nowhere; probably nothing reads it",
            "server.colour is described nowhere; probably nothing reads it");
    assertThat(new EffectiveSettings(doubtful).all())
        .filteredOn(s -> s.name().equals("server.colour"))
        .singleElement()
        .satisfies(s -> assertThat(s.origin()).isEqualTo("command line, read by nobody"));
    // What the service sets itself is all known, so that it is a good example.
    new YamlPropertySourceLoader()
        .load("application.yaml", new ClassPathResource("application.yaml"))
        .forEach(
            source ->
                Arrays.stream(((MapPropertySource) source).getPropertyNames())
                    .filter(name -> SpringNames.FIRST.contains(name.split("\\.")[0]))
                    .forEach(
                        name ->
                            assertThat(
                                    SpringNames.get()
                                        .ofSetting(
                                            name.replaceAll("\\[\\d+\\]", ""),
                                            source.getProperty(name)))
                                .as(name)
                                .isNull()));
  }

  @Test
  void aClusterOfTheSitesOwnIsLookedAtWhole() throws Exception {
    String[] arguments = {
      "--evenhand.cluster=simulated",
      "--evenhand.tiers[0].name=4090",
      "--evenhand.tiers[0].sort-order=20",
      "--evenhand.tiers[0].tflops=82.6",
      "--evenhand.accounts[0].id=BCG",
      "--evenhand.nodes[0].name=n1",
      "--evenhand.nodes[0].tier=4090",
      "--evenhand.nodes[0].gpus=4"
    };
    assertThatCode(() -> SettingsCheck.check(environment(Map.of(), arguments)))
        .doesNotThrowAnyException();
    for (String[] wrong :
        new String[][] {
          {"evenhand.tiers[0].tflops=-1", "evenhand.tiers[0].tflops"},
          {"evenhand.tiers[0].sort-order=high", "a whole number"},
          {"evenhand.nodes[0].tier=409", "did you mean 4090?"},
          {"evenhand.nodes[0].gpus=0", "at least 1"},
          {"evenhand.accounts[0].parent=X", "must be listed before BCG"}
        }) {
      String name = "--" + wrong[0].split("=")[0] + "=";
      String[] changed =
          java.util.stream.Stream.concat(
                  Arrays.stream(arguments).filter(a -> !a.startsWith(name)),
                  java.util.stream.Stream.of("--" + wrong[0]))
              .toArray(String[]::new);
      assertThat(fault(environment(Map.of(), changed)).getMessage()).contains(wrong[1]);
    }
  }

  @Test
  void allUnknownNamesAreToldWithWhereTheyStand() throws Exception {
    Path site =
        Files.writeString(
            folder.resolve("site.yaml"), "evenhand:\n  accounts:\n  polisy: x\n  keep: 30d\n");
    StandardEnvironment environment =
        environment(Map.of("EVENHAND_KEPT", "1d", "EVENHAND_TRACE", "1"), "--evenhand.clustr=x");
    new YamlPropertySourceLoader()
        .load("site", new FileSystemResource(site))
        .forEach(environment.getPropertySources()::addFirst);
    assertThat(fault(environment).getMessage().lines().toList())
        .containsExactlyInAnyOrderElementsOf(
            List.of(
                "evenhand.polisy (site.yaml, line 3) is no setting; did you mean evenhand.policy?",
                "evenhand.clustr is no setting; did you mean evenhand.cluster?",
                "EVENHAND_KEPT is the variable of no setting; did you mean EVENHAND_KEEP?"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "EVENHAND_CYCLE_STALEAFTER=30s",
        "EVENHAND_CYCLE_STALE_AFTER=30s",
        "EVENHAND_SLURM_ENVIRONMENT_SLURM_JWT=x",
        "EVENHAND_SERVER=http://x",
        "EVENHAND_ACCOUNTS_0_ID=BCG"
      })
  void variablesAreReadAsSpringReadsThem(String variable) throws Exception {
    Map<String, Object> variables = new HashMap<>();
    variables.put(variable.split("=")[0], variable.split("=")[1]);
    assertThatCode(
            () ->
                SettingsCheck.check(
                    environment(
                        variables,
                        "--evenhand.cycle.gone_After=61s",
                        "--evenhand.slurm.jobEnvironment.PATH=/bin",
                        "--evenhand.slurm.usable-states[0]=PLANNED",
                        "--demo")))
        .doesNotThrowAnyException();
  }

  @Test
  void aPropertyOfTheMachineIsNotLookedAt() throws Exception {
    StandardEnvironment environment = environment(Map.of());
    environment
        .getPropertySources()
        .addLast(new MapPropertySource("systemProperties", Map.of("evenhand.crash.at", "x")));
    assertThatCode(() -> SettingsCheck.check(environment)).doesNotThrowAnyException();
  }

  @Test
  void securityIsOnUnlessTheDemonstrationOrItsOffListensOnLoopback() throws Exception {
    String simulated = "--evenhand.cluster=simulated";
    assertThat(Security.isOn(environment(Map.of()))).isFalse();
    assertThat(Security.isOn(environment(Map.of(), "--server.address=0.0.0.0"))).isTrue();
    assertThat(Security.isOn(environment(Map.of(), "--server.address="))).isTrue();
    assertThat(Security.isOn(environment(Map.of(), simulated))).isTrue();
    assertThat(Security.isOn(environment(Map.of(), simulated, "--evenhand.security=false")))
        .isFalse();
    assertThat(Security.isOn(environment(Map.of(), "--evenhand.security=ON"))).isTrue();
    assertThat(Security.isOn(environment(Map.of("EVENHAND_SECURITY", "on")))).isTrue();
    for (String address : List.of("0.0.0.0", "192.0.2.7", "::")) {
      assertThat(
              fault(environment(Map.of(), "--evenhand.security=off", "--server.address=" + address))
                  .getMessage())
          .contains(
              "evenhand.security is \"off\"",
              "only where the service listens on loopback",
              address);
    }
    assertThat(fault(environment(Map.of(), "--evenhand.security=maybe")).getMessage())
        .contains("maybe", "on or off");
  }

  @Test
  void jobsOfTheirUsersNeedSecurity() throws Exception {
    String[] slurm = {
      "--evenhand.cluster=slurm",
      "--evenhand.tiers[0].name=4090",
      "--evenhand.tiers[0].sort-order=20",
      "--evenhand.tiers[0].tflops=82.6",
      "--evenhand.accounts[0].id=BCG",
      "--evenhand.slurm.submit-as=user",
      "--evenhand.security=off"
    };
    assertThat(fault(environment(Map.of(), slurm)).getMessage())
        .contains("evenhand.slurm.submit-as", "evenhand.security has to be on");
  }
}
