package evenhand.access;

import static org.assertj.core.api.Assertions.assertThat;

import evenhand.simulator.ManualClock;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class AllowanceTest {
  private final ManualClock clock = new ManualClock(Instant.parse("2026-04-10T09:00:00Z"));

  @Test
  void whoHasUsedItUpWaitsUntilThereIsSomeAgainAndOthersDoNot() {
    Allowance allowance = new Allowance(60, clock);
    for (int i = 0; i < 60; i++) {
      assertThat(allowance.take("kim")).isZero();
    }
    assertThat(allowance.take("kim")).isEqualTo(1);
    assertThat(allowance.take("lee")).isZero();
    clock.advance(Duration.ofSeconds(2));
    assertThat(allowance.take("kim")).isZero();
    assertThat(allowance.take("kim")).isZero();
    assertThat(allowance.take("kim")).isEqualTo(1);
    clock.advance(Duration.ofDays(1));
    for (int i = 0; i < 60; i++) {
      assertThat(allowance.take("kim")).isZero();
    }
    assertThat(allowance.take("kim")).isPositive();
  }

  @Test
  void withoutALimitNobodyWaits() {
    Allowance allowance = new Allowance(0, clock);
    for (int i = 0; i < 10_000; i++) {
      assertThat(allowance.take("kim")).isZero();
    }
  }
}
