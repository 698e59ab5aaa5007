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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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

  /** A placement of which GPUs are claimed. */
  private static final class ClaimedPlace {
    /** Claimed of it. */
    final int gpus;

    /** Idle there, claimed or not. */
    int idle;

    /** Held there by work that the claim cannot count on. */
    int firm;

    ClaimedPlace(int gpus, int idle, int firm) {
      this.gpus = gpus;
      this.idle = idle;
      this.firm = firm;
    }
  }

  private static final class Members {
    final TreeMap<String, Placement> byNode = new TreeMap<>();
    Placement shown;
    FactHandle handle;
  }

  private final Map<Key, Placement> placements = new LinkedHashMap<>();
  private final Map<Key, LinkedHashMap<String, Integer>> holders = new HashMap<>();
  private final Map<Kind, Members> kinds = new HashMap<>();
  private final Map<Key, ClaimedPlace> claimed = new HashMap<>();
  private final List<Running> running;
  private Claim claim;
  private final Firing firing;
  private final boolean nodesMatter;
  private final boolean countAlike;
  private int version;
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
    for (Placement p : snapshot.placements()) {
      placements.put(new Key(p.node(), p.tier().name()), p);
    }
    for (Reservation r : reservations) {
      Key key = new Key(r.node(), r.tier().name());
      Placement p = placements.get(key);
      if (p != null) {
        holders.computeIfAbsent(key, k -> new LinkedHashMap<>()).put(r.job(), r.gpus());
        placements.put(
            key,
            new Placement(
                p.node(),
                p.group(),
                p.idle() - r.gpus(),
                p.reserved() + r.gpus(),
                holders.get(key).keySet().iterator().next()));
      }
    }
    for (Placement p : placements.values()) {
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

  /** The placement as it stands, or null when there is none. */
  Placement at(String node, Tier tier) {
    return placements.get(new Key(node, tier.name()));
  }

  /** GPUs that were idle are held from now on. */
  void take(String node, Tier tier, int gpus, String rule) {
    change(node, tier, -gpus, 0, null, rule, true);
  }

  /** The same by work that leaves for the claim when it has to: it may use claimed GPUs. */
  void takeYielding(String node, Tier tier, int gpus, String rule) {
    change(node, tier, -gpus, 0, null, rule, false);
  }

  /**
   * From now on these GPUs are claimed: what is idle of them is no longer for others, and as much
   * as is claimed stays in reach of the claim.
   */
  void claim(Claim made) {
    claim = made;
    for (Share share : made.on()) {
      Key key = new Key(share.node(), share.tier().name());
      Placement p = placements.get(key);
      if (p == null) {
        continue;
      }
      int yielding = 0;
      int firm = 0;
      for (Running r : running) {
        for (Share s : r.on()) {
          if (s.node().equals(share.node()) && s.tier().name().equals(share.tier().name())) {
            yielding += made.yields(r) ? s.gpus() : 0;
            firm += made.yields(r) ? 0 : s.gpus();
          }
        }
      }
      // What is neither idle nor known is held by jobs from outside.
      int others = p.capacity() - p.idle() - p.reserved() - yielding;
      claimed.put(key, new ClaimedPlace(share.gpus(), p.idle(), Math.max(firm, others)));
      replace(p, now(key, p, p.reserved(), p.heldFor()));
    }
    version++;
  }

  /** Nothing is claimed any more. */
  void unclaim() {
    claim = null;
    Map<Key, ClaimedPlace> before = Map.copyOf(claimed);
    claimed.clear();
    before.forEach(
        (key, c) -> {
          Placement p = placements.get(key);
          replace(p, new Placement(p.node(), p.group(), c.idle, p.reserved(), p.heldFor()));
        });
    version++;
  }

  /** GPUs that are idle there, claimed or not. */
  int idleAlsoClaimed(Placement p) {
    return p.idle() + p.claimed();
  }

  boolean hasClaimed(Placement p) {
    return claimed.containsKey(new Key(p.node(), p.tier().name()));
  }

  /** The placement with so much reserved, and with what the claim leaves idle for others. */
  private Placement now(Key key, Placement p, int reserved, String heldFor) {
    ClaimedPlace c = claimed.get(key);
    int left = p.capacity() - reserved - c.firm - c.gpus;
    int free = Math.max(0, Math.min(c.idle, left));
    return new Placement(p.node(), p.group(), free, reserved, heldFor, 1, c.idle - free);
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
    for (Share share : victim.on()) {
      if (at(share.node(), share.tier()) != null) {
        boolean firm = claim != null && !claim.yields(victim);
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

  /** All placements as they stand. */
  Collection<Placement> all() {
    return placements.values();
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
    ClaimedPlace c = claimed.get(key);
    boolean yields = c != null && !firm;
    int idle = (yields ? c.idle : old.idle()) + idleBy;
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
    if (c != null) {
      c.idle += idleBy;
      c.firm -= firm ? idleBy : 0;
    }
    replace(
        old,
        c == null
            ? new Placement(node, old.group(), idle, reserved, heldFor)
            : now(key, old, reserved, heldFor));
    version++;
  }

  private void replace(Placement old, Placement now) {
    placements.put(new Key(now.node(), now.tier().name()), now);
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
