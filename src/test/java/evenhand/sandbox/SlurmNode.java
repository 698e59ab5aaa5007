package evenhand.sandbox;

import java.util.List;

/** A compute node as the sandbox claims it to be; the real machine behind it is much smaller. */
record SlurmNode(String name, int cpus, int memoryMegabytes, List<Gpus> gpus) {

  /** Some GPUs of one type, such as four 4090. */
  record Gpus(String type, int count) {}

  SlurmNode {
    if (!name.matches("[a-z][a-z0-9-]*")) {
      throw new IllegalArgumentException("not a node name: " + name);
    }
    gpus = List.copyOf(gpus);
  }

  /** Reads Slurm's own notation, {@code gpu:4090:4,gpu:5090:4}. */
  static SlurmNode of(String name, int cpus, int memoryMegabytes, String gres) {
    return new SlurmNode(
        name,
        cpus,
        memoryMegabytes,
        java.util.Arrays.stream(gres.split(","))
            .map(
                part -> {
                  String[] fields = part.split(":");
                  if (fields.length != 3 || !fields[0].equals("gpu")) {
                    throw new IllegalArgumentException("not gpu:TYPE:COUNT: " + part);
                  }
                  return new Gpus(fields[1], Integer.parseInt(fields[2]));
                })
            .toList());
  }

  String gres() {
    return String.join(",", gpus.stream().map(g -> "gpu:" + g.type() + ":" + g.count()).toList());
  }

  int gpuCount() {
    return gpus.stream().mapToInt(Gpus::count).sum();
  }
}
