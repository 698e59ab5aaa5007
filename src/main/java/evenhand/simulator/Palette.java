package evenhand.simulator;

/**
 * The colours of pictures, those of the report in the light. Hues keep clear of red, which marks
 * what was preempted.
 */
final class Palette {
  static final int INK = 0x1c2530;
  static final int SOFT = 0x5a6673;
  static final int LINE = 0xd4dae1;
  static final int IDLE = 0xeef1f4;
  static final int PREEMPTED = 0xce1616;
  static final int BROKEN = 0x000000;
  static final int DOWN = 0xc4cad0;
  static final int KEPT = 0x28303a;

  private static final int[] POLICIES = {0x1f5fa8, 0xc2571a, 0x1c7c54, 0x7a4fa3};
  private static final double[][] DASHES = {{}, {7, 4}, {2, 3}, {8, 3, 2, 3}};
  private static final int SHADES = 5;

  private final int teams;

  Palette(int teams) {
    this.teams = Math.max(teams, 6);
  }

  static int policy(int i) {
    return POLICIES[i % POLICIES.length];
  }

  static double[] dash(int i) {
    return DASHES[i % DASHES.length].clone();
  }

  /** A team's own colour. */
  int team(int team) {
    return shade(team, 2);
  }

  /** A job's: its team's, in one of some shades. */
  int job(int team, int job) {
    return shade(team, (int) (job * 7L % SHADES));
  }

  private int shade(int team, int shade) {
    int step = Math.max(1, (int) Math.round(teams * 0.382));
    while (divisor(step, teams) != 1) {
      step++;
    }
    double hue = 22 + (long) team * step % teams * 316.0 / teams;
    return hsl(hue, team % 2 == 0 ? 0.54 : 0.42, 0.5 + (shade - 2) * 0.055);
  }

  private static int divisor(int a, int b) {
    return b == 0 ? a : divisor(b, a % b);
  }

  private static int hsl(double h, double s, double l) {
    double a = s * Math.min(l, 1 - l);
    return part(0, h, l, a) << 16 | part(8, h, l, a) << 8 | part(4, h, l, a);
  }

  private static int part(int n, double h, double l, double a) {
    double k = (n + h / 30) % 12;
    return (int) Math.round(255 * (l - a * Math.max(-1, Math.min(Math.min(k - 3, 9 - k), 1))));
  }

  /** So much of the second colour in the first. */
  static int mix(int one, int other, double part) {
    int mixed = 0;
    for (int shift = 16; shift >= 0; shift -= 8) {
      double c = (one >> shift & 255) * (1 - part) + (other >> shift & 255) * part;
      mixed |= (int) Math.round(c) << shift;
    }
    return mixed;
  }
}
