package evenhand.policy;

import evenhand.facts.Setting;
import evenhand.outcomes.Conclusion;
import evenhand.policy.Firing.Concluded;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedDeque;
import org.kie.api.KieBase;
import org.kie.api.event.rule.DefaultRuleRuntimeEventListener;
import org.kie.api.event.rule.ObjectInsertedEvent;
import org.kie.api.runtime.KieSession;
import org.kie.api.runtime.rule.FactHandle;

/**
 * Working memories for one policy's rules, with its settings in them. Making one costs more than
 * most questions do, so one that was used is emptied and used again; never one in which a rule has
 * failed, or that held so much that emptying it would cost more than a new one.
 *
 * <p>A rule fires once for what it matches. One that asks for no fact at all, or only that there is
 * none, would fire in the first use and never again: where the policy has such a rule, every use
 * gets a working memory of its own.
 */
final class Sessions {
  private static final int MOST_USES = 2000;
  private static final int MOST_FACTS = 400;
  private static final int MOST_IDLE = 4;

  private final KieBase base;
  private final Map<String, Rule> rules;
  private final List<Setting> settings;
  private final Matching matching;
  private final Set<Stage> stages = EnumSet.noneOf(Stage.class);
  private final ConcurrentLinkedDeque<Lent> idle = new ConcurrentLinkedDeque<>();

  Sessions(Loaded loaded) {
    this.base = loaded.base();
    this.rules = loaded.rules();
    this.settings = loaded.settings();
    this.matching = Matching.of(loaded);
    rules.values().forEach(rule -> stages.add(rule.stage()));
  }

  /** Whether any rule belongs to this stage. */
  boolean has(Stage stage) {
    return stages.contains(stage);
  }

  /** What the rules match. */
  Matching matching() {
    return matching;
  }

  /** Whether a working memory may be used again. */
  boolean reusable() {
    return matching.reusable();
  }

  Map<String, Rule> rules() {
    return rules;
  }

  /** A working memory that holds the settings and nothing else. */
  Lent take() {
    Lent used = idle.poll();
    Lent lent = used == null ? new Lent() : used;
    lent.settle();
    return lent;
  }

  /** One working memory, lent to one user at a time. */
  final class Lent {
    private final KieSession session = base.newKieSession();
    private List<Concluded> record = new ArrayList<>();
    private final Set<FactHandle> staying = new HashSet<>();
    private int uses;

    private Lent() {
      session.addEventListener(
          new DefaultRuleRuntimeEventListener() {
            @Override
            public void objectInserted(ObjectInsertedEvent event) {
              if (event.getRule() != null && event.getObject() instanceof Conclusion what) {
                record.add(
                    new Concluded(
                        what, rules.get(event.getRule().getName()), event.getFactHandle()));
              }
            }
          });
    }

    /** Puts the settings in, unless they are still there from its use before. */
    private void settle() {
      if (staying.isEmpty()) {
        for (Setting setting : settings) {
          FactHandle handle = session.insert(setting);
          if (matching.settingsStay()) {
            staying.add(handle);
          }
        }
      }
    }

    /** The session, which records what rules conclude there from now on. */
    KieSession recording(List<Concluded> concluded) {
      record = concluded;
      return session;
    }

    /**
     * @param sound false when a rule has failed there
     */
    void giveBack(boolean sound) {
      if (sound
          && matching.reusable()
          && ++uses < MOST_USES
          && session.getFactCount() <= MOST_FACTS) {
        record = new ArrayList<>();
        List<FactHandle> there = new ArrayList<>(session.<FactHandle>getFactHandles());
        for (FactHandle handle : there) {
          if (!staying.contains(handle)) {
            session.delete(handle);
          }
        }
        if (session.getFactCount() == staying.size() && idle.size() < MOST_IDLE) {
          idle.add(this);
          return;
        }
      }
      session.dispose();
    }
  }
}
