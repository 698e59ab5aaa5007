package evenhand.policy;

import evenhand.facts.Claim;
import evenhand.facts.Placement;
import evenhand.facts.Reservation;
import evenhand.facts.Running;
import evenhand.facts.Share;
import evenhand.facts.Snapshot;
import evenhand.facts.Tier;
import evenhand.outcomes.Gang;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.kie.api.runtime.rule.FactHandle;

/**
 * The policy's own picture of the cluster while a cycle goes on: what is idle where, after
 * reservations and after the starts decided so far. It keeps the working memory's placement facts
 * up to date.
 *
 * <p>Placements that differ in nothing but their node are one kind, and only the first of them by
 * name stands in the working memory: rules and preferences cannot tell them apart otherwise, and a
 * thousand idle nodes are one fact. Where some rule names the node, or a preference prefers the
 * last by name, every placement is a kind of its own.
 */
final class Board {
  private record Key(String node, String tier) {}

  /**
   * All that tells placements apart but the node; {@code node} is filled where rules look at it.
   */
  private record Kind(
      Object group, int idle, int reserved, String heldFor, int claimed, String node) {}

  private static final class Members {
    final TreeMap<String, Placement> byNode = new TreeMap<>();
    Placement shown;
    FactHandle handle;
  }

  private final Map<Key, Integer> numbers = new HashMap<>();
  private final Placement[] placements;
  private final int[] tiers;
  private final int tierCount;
  private final Map<Key, LinkedHashMap<String, Integer>> holders = new HashMap<>();
  private final Map<Kind, Members> kinds = new HashMap<>();
  private final List<Running> running;
  private final Set<String> gone = new HashSet<>();
  private ClaimedPlaces claimed;
  private final Firing firing;
  private final boolean nodesMatter;
  private final boolean countAlike;
  private int version;
  private Map<Integer, Placement> before;
  private boolean shown;

  /**
   * @param reservations those that stand; their GPUs are taken off idle
   * @param nodesMatter whether some rule names the node of a placement
   * @param countAlike whether some rule asks how many placements are alike
   */
  Board(
      Snapshot snapshot,
      Collection<Reservation> reservations,
      Firing firing,
      boolean nodesMatter,
      boolean countAlike) {
    this.firing = firing;
    this.running = snapshot.running();
    this.countAlike = countAlike;
    this.nodesMatter = nodesMatter;
    placements = snapshot.placements().toArray(Placement[]::new);
    tiers = new int[placements.length];
    Map<String, Integer> tierNumbers = new HashMap<>();
    for (int i = 0; i < placements.length; i++) {
      String tier = placements[i].tier().name();
      numbers.put(new Key(placements[i].node(), tier), i);
      tiers[i] = tierNumbers.computeIfAbsent(tier, t -> tierNumbers.size());
    }
    tierCount = tierNumbers.size();
    for (Reservation r : reservations) {
      Key key = new Key(r.node(), r.tier().name());
      Integer number = numbers.get(key);
      if (number != null) {
        Placement p = placements[number];
        holders.computeIfAbsent(key, k -> new LinkedHashMap<>()).put(r.job(), r.gpus());
        placements[number] =
            new Placement(
                p.node(),
                p.group(),
                p.idle() - r.gpus(),
                p.reserved() + r.gpus(),
                holders.get(key).keySet().iterator().next());
      }
    }
    for (Placement p : placements) {
      if (p.idle() < 0) {
        throw new RuleFailed(
            "more GPUs of tier "
                + p.tier().name()
                + " on "
                + p.node()
                + " are reserved than are free");
      }
      kinds.computeIfAbsent(kind(p), k -> new Members()).byNode.put(p.node(), p);
    }
  }

  /** Shows the rules what there is, from now on. */
  void begin() {
    shown = true;
    kinds.values().forEach(this::show);
  }

  /**
   * All that rules can tell apart here but the names of nodes: of each kind of placement, how many
   * there are, counted to {@code most}.
   */
  Map<Object, Integer> kinds(int most) {
    Map<Object, Integer> kinds = new HashMap<>();
    this.kinds.forEach(
        (kind, members) -> {
          if (!members.byNode.isEmpty()) {
            kinds.put(kind, Math.min(most, members.byNode.size()));
          }
        });
    return kinds;
  }

  /** Changes whenever anything on the board does. */
  int version() {
    return version;
  }

  /**
   * Changes that count as one: where they leave every placement as it was, nothing has changed, and
   * the version is what it was. Nobody may ask for it meanwhile.
   */
  void asOne(Runnable changes) {
    int was = version;
    before = new HashMap<>();
    changes.run();
    if (before.entrySet().stream().allMatch(b -> placements[b.getKey()].equals(b.getValue()))) {
      version = was;
    }
    before = null;
  }

  /** The placement as it stands, or null when there is none. */
  Placement at(String node, Tier tier) {
    int number = number(node, tier);
    return number < 0 ? null : placements[number];
  }

  /** The number of a placement, from 0, the same for the whole cycle; -1 when there is none. */
  int number(String node, Tier tier) {
    return numbers.getOrDefault(new Key(node, tier.name()), -1);
  }

  /** The placement of this number as it stands. */
  Placement at(int number) {
    return placements[number];
  }

  /** The number of its tier, from 0 to less than {@link #tiers}. */
  int tier(int number) {
    return tiers[number];
  }

  /** How many placements there are. */
  int size() {
    return placements.length;
  }

  /** How many tiers they are of. */
  int tiers() {
    return tierCount;
  }

  /** GPUs that were idle are held from now on. */
  void take(String node, Tier tier, int gpus, String rule) {
    change(node, tier, -gpus, 0, null, rule, true);
  }

  /** The same by work that leaves for the claim when it has to: it may use claimed GPUs. */
  void takeYielding(String node, Tier tier, int gpus, String rule) {
    change(node, tier, -gpus, 0, null, rule, false);
  }

  /** From now on these GPUs are claimed; what is idle of them is no longer for others. */
  void claim(Claim made) {
    List<Running> there = running.stream().filter(r -> !gone.contains(r.job())).toList();
    claimed = new ClaimedPlaces(made, this, there);
    showClaimed();
  }

  /** Nothing is claimed any more. */
  void unclaim() {
    ClaimedPlaces before = claimed;
    claimed = null;
    for (int number : before.numbers()) {
      Placement p = placements[number];
      replace(
          number,
          new Placement(p.node(), p.group(), before.idle(number), p.reserved(), p.heldFor()));
    }
    version++;
  }

  /** Whether the claimer has its turn: to it what it has claimed is idle. */
  void claimersTurn(boolean its) {
    claimed.claimersTurn(its);
    showClaimed();
  }

  private void showClaimed() {
    for (int number : claimed.numbers()) {
      Placement p = placements[number];
      replace(number, claimed.shown(number, p, p.reserved(), p.heldFor()));
    }
    version++;
  }

  boolean isClaimed(int number) {
    return claimed != null && claimed.has(number);
  }

  /** Numbers of the claimed placements. */
  int[] claimed() {
    return claimed.numbers();
  }

  /** GPUs that were idle are reserved for a job from now on, beside what it has there. */
  void reserve(String node, Tier tier, int gpus, String job, String rule) {
    change(node, tier, -gpus, gpus, job, rule, false);
  }

  /** GPUs reserved for a job are idle again. */
  void release(String node, Tier tier, int gpus, String job, String rule) {
    change(node, tier, gpus, -gpus, job, rule, false);
  }

  /** GPUs reserved for a job, and {@code more} idle ones, are held by it. */
  void complete(String node, Tier tier, int reserved, int more, String job, String rule) {
    change(node, tier, -more, -reserved, job, rule, true);
  }

  /** A running job gives its GPUs up: they are idle again. */
  void vacate(Running victim, String rule) {
    gone.add(victim.job());
    for (Share share : victim.on()) {
      if (at(share.node(), share.tier()) != null) {
        boolean firm = claimed != null && !claimed.claim().yields(victim);
        change(share.node(), share.tier(), share.gpus(), 0, null, rule, firm);
      }
    }
  }

  /** The nodes of a gang, the preferred ones, each with so many GPUs. */
  List<Share> expand(Gang gang, int gpus, Comparator<Placement> preference) {
    return gang.kinds().stream()
        .map(like -> kinds.get(kind(at(like.node(), like.tier()))))
        .flatMap(members -> members.byNode.values().stream())
        .sorted(preference)
        .limit(gang.nodes())
        .map(p -> new Share(p.node(), p.tier(), gpus))
        .toList();
  }

  private void change(
      String node,
      Tier tier,
      int idleBy,
      int reservedBy,
      String holder,
      String rule,
      boolean firm) {
    Placement old = at(node, tier);
    if (old == null) {
      throw new RuleFailed(
          "rule " + rule + " uses tier " + tier.name() + " on " + node + ", which is not there");
    }
    Key key = new Key(node, tier.name());
    int number = numbers.get(key);
    int idle = (isClaimed(number) && !firm ? claimed.idle(number) : old.idle()) + idleBy;
    int reserved = old.reserved() + reservedBy;
    if (idle < 0 || reserved < 0 || idle + reserved > old.capacity()) {
      throw new RuleFailed(
          "rule "
              + rule
              + " would leave "
              + idle
              + " idle and "
              + reserved
              + " reserved of the "
              + old.capacity()
              + " GPUs of tier "
              + tier.name()
              + " on "
              + node);
    }
    if (reservedBy != 0) {
      LinkedHashMap<String, Integer> here =
          holders.computeIfAbsent(key, k -> new LinkedHashMap<>());
      here.merge(holder, reservedBy, Integer::sum);
      here.values().removeIf(gpus -> gpus == 0);
    }
    String heldFor = reserved == 0 ? null : holders.get(key).keySet().iterator().next();
    if (isClaimed(number)) {
      claimed.change(number, idleBy, firm);
      replace(number, claimed.shown(number, old, reserved, heldFor));
    } else {
      replace(number, new Placement(node, old.group(), idle, reserved, heldFor));
    }
    version++;
  }

  private void replace(int number, Placement now) {
    Placement old = placements[number];
    if (before != null) {
      before.putIfAbsent(number, old);
    }
    placements[number] = now;
    Members from = kinds.get(kind(old));
    from.byNode.remove(old.node());
    show(from);
    Members to = kinds.computeIfAbsent(kind(now), k -> new Members());
    to.byNode.put(now.node(), now);
    show(to);
  }

  /** Lets the first of a kind stand for all of it in the working memory. */
  private void show(Members members) {
    if (!shown) {
      return;
    }
    Placement first = members.byNode.isEmpty() ? null : members.byNode.firstEntry().getValue();
    if (first != null && countAlike) {
      first = first.standingFor(members.byNode.size());
    }
    if (first == members.shown || first != null && first.equals(members.shown)) {
      return;
    }
    if (members.handle != null) {
      firing.delete(members.handle);
    }
    members.shown = first;
    members.handle = first == null ? null : firing.insert(first);
  }

  private Kind kind(Placement p) {
    return new Kind(
        p.group(), p.idle(), p.reserved(), p.heldFor(), p.claimed(), nodesMatter ? p.node() : null);
  }
}
