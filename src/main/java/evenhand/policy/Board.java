package evenhand.policy;

import evenhand.facts.Claim;
import evenhand.facts.Placement;
import evenhand.facts.PlacementGroup;
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
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;
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
 *
 * <p>One board can serve one cycle after another ({@link #follow}): then only what is not as it was
 * left is changed, here and in the working memory.
 */
final class Board {
  private record Key(String node, String tier) {}

  /**
   * All that tells placements apart but the node; {@code node} is filled where rules look at it.
   */
  private record Kind(
      Object group, int idle, int reserved, String heldFor, int claimed, String node) {}

  /** Placements of one kind. */
  static final class Members {
    private final Kind kind;
    private final TreeMap<String, Placement> byNode = new TreeMap<>();
    private Placement shown;
    private FactHandle handle;
    private int number;
    private int numberedIn = -1;

    private Members(Kind kind) {
      this.kind = kind;
    }

    /** How many there are. */
    int size() {
      return byNode.size();
    }

    /** The fact that stands for them in the working memory. */
    Placement shown() {
      return shown;
    }

    /** The number that {@code numbering} gives to their kind; another one each {@code time}. */
    int number(ToIntFunction<Object> numbering, int time) {
      if (numberedIn != time) {
        number = numbering.applyAsInt(kind);
        numberedIn = time;
      }
      return number;
    }
  }

  private final Map<Key, Integer> numbers = new HashMap<>();
  private final Placement[] placements;

  /** As the snapshot gave them, and what they were on the board then. */
  private final Placement[] given;

  private final Placement[] begun;
  private final int[] tiers;
  private final int tierCount;
  private final Map<Key, LinkedHashMap<String, Integer>> holders = new HashMap<>();
  private final Map<Kind, Members> kinds = new HashMap<>();
  private final Set<Members> stale = new LinkedHashSet<>();
  private final Map<Set<PlacementGroup>, int[]> fitting = new HashMap<>();
  private final Set<String> gone = new HashSet<>();
  private List<Running> running;
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
    given = placements.clone();
    begun = new Placement[placements.length];
    tiers = new int[placements.length];
    Map<String, Integer> tierNumbers = new HashMap<>();
    for (int i = 0; i < placements.length; i++) {
      String tier = placements[i].tier().name();
      numbers.put(new Key(placements[i].node(), tier), i);
      tiers[i] = tierNumbers.computeIfAbsent(tier, t -> tierNumbers.size());
    }
    tierCount = tierNumbers.size();
    hold(reservations);
    for (int i = 0; i < placements.length; i++) {
      Placement p = lessReserved(given[i]);
      placements[i] = p;
      begun[i] = p;
      kinds.computeIfAbsent(kind(p), Members::new).byNode.put(p.node(), p);
    }
  }

  private void hold(Collection<Reservation> reservations) {
    for (Reservation r : reservations) {
      Key key = new Key(r.node(), r.tier().name());
      if (numbers.containsKey(key)) {
        holders.computeIfAbsent(key, k -> new LinkedHashMap<>()).put(r.job(), r.gpus());
      }
    }
  }

  /** A placement of the snapshot, what is reserved of it taken off idle. */
  private Placement lessReserved(Placement p) {
    Map<String, Integer> here =
        holders.isEmpty() ? null : holders.get(new Key(p.node(), p.tier().name()));
    if (here == null) {
      return p;
    }
    int reserved = 0;
    for (int gpus : here.values()) {
      reserved += gpus;
    }
    if (p.idle() < reserved) {
      throw new RuleFailed(
          "more GPUs of tier "
              + p.tier().name()
              + " on "
              + p.node()
              + " are reserved than are free");
    }
    return new Placement(
        p.node(),
        p.group(),
        p.idle() - reserved,
        p.reserved() + reserved,
        here.keySet().iterator().next());
  }

  /** Whether these are the same placements, each of the group it was of. */
  boolean isOf(List<Placement> others) {
    if (others.size() != given.length) {
      return false;
    }
    for (int i = 0; i < given.length; i++) {
      Placement p = others.get(i);
      if (p != given[i]
          && (!p.node().equals(given[i].node()) || !p.group().equals(given[i].group()))) {
        return false;
      }
    }
    return true;
  }

  /**
   * A new cycle begins: from now on the board is as one that was made of this snapshot, whose
   * placements it {@link #isOf}.
   *
   * @param reservations those that stand; their GPUs are taken off idle
   */
  void follow(Snapshot snapshot, Collection<Reservation> reservations) {
    running = snapshot.running();
    gone.clear();
    Set<Key> reserved = new HashSet<>(holders.keySet());
    holders.clear();
    hold(reservations);
    reserved.addAll(holders.keySet());
    for (int i = 0; i < given.length; i++) {
      Placement p = snapshot.placements().get(i);
      if (p != given[i]
          || placements[i] != begun[i]
          || !reserved.isEmpty() && reserved.contains(new Key(p.node(), p.tier().name()))) {
        given[i] = p;
        Placement now = lessReserved(p);
        if (!now.equals(placements[i])) {
          replace(i, now);
          version++;
        }
        begun[i] = placements[i];
      }
    }
  }

  /** Shows the rules what there is, from now on. */
  void begin() {
    shown = true;
    kinds.values().forEach(this::show);
  }

  /** All kinds there are. */
  Collection<Members> kinds() {
    return kinds.values();
  }

  /** Numbers of the placements of these groups. */
  int[] of(Set<PlacementGroup> groups) {
    return fitting.computeIfAbsent(
        groups,
        g ->
            IntStream.range(0, placements.length)
                .filter(i -> g.contains(placements[i].group()))
                .toArray());
  }

  /**
   * All that rules can tell apart here but the names of nodes: of each kind of placement, how many
   * there are, counted to {@code most}.
   */
  Map<Object, Integer> kinds(int most) {
    Map<Object, Integer> kinds = new HashMap<>();
    this.kinds.forEach(
        (kind, members) -> {
          kinds.put(kind, Math.min(most, members.byNode.size()));
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

  /** Whether anything is claimed. */
  boolean claims() {
    return claimed != null;
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
    if (from.byNode.isEmpty()) {
      kinds.remove(from.kind);
    }
    show(from);
    Members to = kinds.computeIfAbsent(kind(now), Members::new);
    to.byNode.put(now.node(), now);
    show(to);
  }

  /** Before rules are asked again they see of this kind what there is of it by then. */
  private void show(Members members) {
    if (!shown) {
      return;
    }
    if (stale.isEmpty()) {
      firing.begin(this::showStale);
    }
    stale.add(members);
  }

  /** Lets the first of a kind stand for all of it in the working memory. */
  private void showStale() {
    for (Members members : stale) {
      Placement first = members.byNode.isEmpty() ? null : members.byNode.firstEntry().getValue();
      if (first != null && countAlike) {
        first = first.standingFor(members.byNode.size());
      }
      if (!Objects.equals(first, members.shown)) {
        if (members.handle != null) {
          firing.delete(members.handle);
        }
        members.shown = first;
        members.handle = first == null ? null : firing.insert(first);
      }
    }
    stale.clear();
  }

  private Kind kind(Placement p) {
    return new Kind(
        p.group(), p.idle(), p.reserved(), p.heldFor(), p.claimed(), nodesMatter ? p.node() : null);
  }
}
