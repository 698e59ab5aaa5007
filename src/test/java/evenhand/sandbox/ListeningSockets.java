package evenhand.sandbox;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** The addresses at which a process accepts TCP connections, by the kernel's own tables. */
final class ListeningSockets {
  private static final String LISTEN = "0A";

  private ListeningSockets() {}

  static List<String> of(long pid) throws IOException {
    Set<String> inodes = new HashSet<>();
    try (Stream<Path> descriptors = Files.list(Path.of("/proc/" + pid + "/fd"))) {
      for (Path descriptor : descriptors.toList()) {
        String target = Files.readSymbolicLink(descriptor).toString();
        if (target.startsWith("socket:[")) {
          inodes.add(target.substring("socket:[".length(), target.length() - 1));
        }
      }
    }
    List<String> addresses = new ArrayList<>();
    for (String table : List.of("tcp", "tcp6")) {
      Path file = Path.of("/proc/net/" + table);
      if (!Files.exists(file)) {
        continue;
      }
      for (String line : Files.readAllLines(file)) {
        String[] fields = line.trim().split("\\s+");
        // 0 number, 1 local address, 2 peer, 3 state, … 9 inode
        if (fields.length > 9 && fields[3].equals(LISTEN) && inodes.contains(fields[9])) {
          addresses.add(readable(fields[1]));
        }
      }
    }
    return addresses;
  }

  /** 0100007F:4E20 is 127.0.0.1:20000; anything longer is IPv6 and stays as it is. */
  private static String readable(String hex) {
    String[] parts = hex.split(":");
    if (parts[0].length() != 8) {
      return hex;
    }
    StringBuilder address = new StringBuilder();
    for (int i = 6; i >= 0; i -= 2) {
      address.append(Integer.parseInt(parts[0].substring(i, i + 2), 16)).append(i > 0 ? "." : ":");
    }
    return address.append(Integer.parseInt(parts[1], 16)).toString();
  }
}
