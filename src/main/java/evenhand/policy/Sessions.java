package evenhand.policy;

import evenhand.facts.Setting;
import evenhand.outcomes.Conclusion;
import evenhand.policy.Firing.Concluded;
import java.util.ArrayList;
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
 */
final class Sessions {
  private static final int MOST_USES = 2000;
  private static final int MOST_FACTS = 400;
  private static final int MOST_IDLE = 4;

  private final KieBase base;
  private final Map<String, Rule> rules;
  private final List<Setting> settings;
  private final ConcurrentLinkedDeque<Lent> idle = new ConcurrentLinkedDeque<>();

  Sessions(Loaded loaded) {
    this.base = loaded.base();
    this.rules = loaded.rules();
    this.settings = loaded.settings();
  }

  Map<String, Rule> rules() {
    return rules;
  }

  /** A working memory that holds the settings and nothing else. */
  Lent take() {
    Lent used = idle.poll();
    return used == null ? new Lent() : used;
  }

  /** One working memory, lent to one user at a time. */
  final class Lent {
    private final KieSession session = base.newKieSession();
    private final Set<FactHandle> ours = new HashSet<>();
    private List<Concluded> record = new ArrayList<>();
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
      settings.forEach(setting -> ours.add(session.insert(setting)));
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
      if (sound && ++uses < MOST_USES && session.getFactCount() <= MOST_FACTS) {
        record = new ArrayList<>();
        List<FactHandle> there = new ArrayList<>(session.<FactHandle>getFactHandles());
        for (FactHandle handle : there) {
          if (!ours.contains(handle)) {
            session.delete(handle);
          }
        }
        if (session.getFactCount() == ours.size() && idle.size() < MOST_IDLE) {
          idle.add(this);
          return;
        }
      }
      session.dispose();
    }
  }
}
