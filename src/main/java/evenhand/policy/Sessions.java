package evenhand.policy;

import evenhand.facts.Setting;
import evenhand.outcomes.Conclusion;
import evenhand.policy.Firing.Concluded;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedDeque;
import org.drools.base.definitions.rule.impl.RuleImpl;
import org.drools.base.rule.Pattern;
import org.drools.base.rule.RuleConditionElement;
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
  private final boolean reusable;
  private final ConcurrentLinkedDeque<Lent> idle = new ConcurrentLinkedDeque<>();

  Sessions(Loaded loaded) {
    this.base = loaded.base();
    this.rules = loaded.rules();
    this.settings = loaded.settings();
    this.reusable =
        base.getKiePackages().stream()
            .flatMap(p -> p.getRules().stream())
            .allMatch(
                rule ->
                    ((RuleImpl) rule).getLhs().getChildren().stream().anyMatch(Sessions::isFact));
  }

  /** Whether it is matched by facts that are inserted anew for each use. */
  private static boolean isFact(RuleConditionElement condition) {
    return condition instanceof Pattern pattern && pattern.getSource() == null;
  }

  /** Whether a working memory may be used again. */
  boolean reusable() {
    return reusable;
  }

  Map<String, Rule> rules() {
    return rules;
  }

  /** A working memory that holds the settings and nothing else. */
  Lent take() {
    Lent used = idle.poll();
    Lent lent = used == null ? new Lent() : used;
    settings.forEach(lent.session::insert);
    return lent;
  }

  /** One working memory, lent to one user at a time. */
  final class Lent {
    private final KieSession session = base.newKieSession();
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
      if (sound && reusable && ++uses < MOST_USES && session.getFactCount() <= MOST_FACTS) {
        record = new ArrayList<>();
        List<FactHandle> there = new ArrayList<>(session.<FactHandle>getFactHandles());
        for (FactHandle handle : there) {
          session.delete(handle);
        }
        if (session.getFactCount() == 0 && idle.size() < MOST_IDLE) {
          idle.add(this);
          return;
        }
      }
      session.dispose();
    }
  }
}
