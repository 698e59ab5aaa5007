package evenhand.hostlist;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HostListTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "login|login",
        "gpu-b2[011,022]|gpu-b2011 gpu-b2022",
        "n[8-11]|n8 n9 n10 n11",
        "n[08-11]|n08 n09 n10 n11",
        "n[098-101]|n098 n099 n100 n101",
        "n[0-2]|n0 n1 n2",
        "a,b[001,003],c|a b001 b003 c",
        "rack[0-1]_blade[0-1]|rack0_blade0 rack0_blade1 rack1_blade0 rack1_blade1",
        "a1-[01-02],a2-[17,25]|a1-01 a1-02 a2-17 a2-25",
        "[1-2]x|1x 2x",
        " n1 , n2 |n1 n2",
      })
  void names(String list, String hosts) {
    assertThat(HostList.expand(list)).containsExactly(hosts.split(" "));
  }

  @Test
  void countsOfSeveralGroups() {
    assertThat(HostList.expand("x01[0-1]y01[0-1]z01[0-1]")).hasSize(8);
    assertThat(HostList.expand("cluster[1-30]c[1-2]"))
        .hasSize(60)
        .startsWith("cluster1c1", "cluster1c2")
        .endsWith("cluster30c2");
    assertThat(HostList.expand("d[001-032],f[001-004,006-024]")).hasSize(55);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "  ", "(null)", "None assigned", "N/A"})
  void noHosts(String list) {
    assertThat(HostList.expand(list)).isEmpty();
  }

  @Test
  void nullIsNoHosts() {
    assertThat(HostList.expand(null)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "n[01",
        "n[[01]]",
        "n[]",
        "n01]",
        "n[1-]",
        "n[-1]",
        "n[a-b]",
        "n[3-1]",
        "n[1,,2]",
        "a,,b",
        "a,",
        "n1;reboot",
        "n 1",
        "n[1-3],...",
        "main*",
        "n[1-3",
        "nö1",
        "$(x)",
        "n[1--2]",
        "n[99999999999999999999]",
      })
  void refused(String list) {
    assertThatThrownBy(() -> HostList.expand(list))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("host list");
  }

  @Test
  void boundIsSaid() {
    assertThat(HostList.expand("n[1-100000]")).hasSize(HostList.MAX_HOSTS);
    for (String huge :
        new String[] {
          "n[1-100001]",
          "n[0-999999999999999999]",
          "n[1-50000],m[1-50001]",
          "a[0-999]b[0-999]c[0-999]d[0-999]",
          "x,".repeat(5_000_000) + "x",
        }) {
      assertThatThrownBy(() -> HostList.expand(huge))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("more than 100000 hosts")
          .message()
          .hasSizeLessThan(300);
    }
    assertThatThrownBy(() -> HostList.expand("a".repeat(10_000_000) + "[1-100000]"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("longer than a host name");
  }
}
