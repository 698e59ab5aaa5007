package evenhand.api;

import evenhand.access.Person;
import evenhand.access.Role;
import evenhand.cycle.Desk;
import evenhand.cycle.NewJob;
import jakarta.servlet.http.HttpServletRequest;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/** Who sent a request, and what of it is theirs to ask. */
final class Caller {
  /** Attribute of a request: the {@link Person} it is of. */
  static final String PERSON = "evenhand.person";

  private static final Set<Role> LEDGER_READERS =
      EnumSet.of(Role.OWNER, Role.OPERATOR, Role.AUDITOR, Role.ADMIN);

  private Caller() {}

  /** Whoever sent it; null where nobody is known and somebody must be. */
  static Person of(HttpServletRequest request) {
    return (Person) request.getAttribute(PERSON);
  }

  /**
   * In whose name it is done: the token's. Where security is off, the name that was said.
   *
   * @param said what the body says; null, or {@link SubmissionForm#nobody}, for nothing
   * @throws Refusal 403 when it names somebody else; 422 where a name is needed and none was said
   */
  static String by(HttpServletRequest request, String field, String said) {
    Person person = of(request);
    if (!person.known()) {
      if (said == null) {
        throw Query.fault(field, "is missing; must be " + SubmissionForm.ID_RIGHT);
      }
      return said;
    }
    if (said == null || said.equals(SubmissionForm.nobody()) || said.equals(person.user())) {
      return person.user();
    }
    throw no(
        field,
        field
            + " is "
            + said
            + ", but the token is of "
            + person.user()
            + "; leave "
            + field
            + " out: what is done is done in the name of the token");
  }

  /**
   * A submission in the name and on the account of whoever sent it.
   *
   * @throws Refusal 403 for an account that is not theirs
   */
  static NewJob submits(HttpServletRequest request, NewJob job) {
    Person person = of(request);
    if (!person.known()) {
      return job;
    }
    String user = by(request, "user", job.user());
    List<String> own = person.accounts();
    String account = job.account();
    if (account == null && own.size() == 1) {
      account = own.get(0);
    }
    if (account == null && own.size() > 1) {
      throw Query.fault("account", "is missing; name one of " + String.join(", ", own));
    }
    if (account == null && !person.is(Role.ADMIN)) {
      throw no(
          "account",
          "the token "
              + person.name()
              + " has no account, and the tree attaches "
              + user
              + " to none; an operator or admin can change that");
    }
    if (account != null && !person.belongsTo(account)) {
      throw no(
          "account",
          "account "
              + account
              + " is not one of the token "
              + person.name()
              + (own.isEmpty() ? ", which has none" : "; it has " + String.join(", ", own)));
    }
    return job.by(user, account);
  }

  /**
   * Lets through who may end a job or speak for it: who submitted it, and operators.
   *
   * @throws Refusal 403
   */
  static void mustOwn(HttpServletRequest request, Supplier<Desk.JobView> which) {
    Person person = of(request);
    if (!person.known() || person.is(Role.OPERATOR)) {
      return;
    }
    Desk.JobView job = which.get();
    if (!person.belongsTo(job.account()) || !job.user().equals(person.user())) {
      throw no(
          "id",
          "job "
              + job.id()
              + " is of "
              + job.user()
              + " on account "
              + job.account()
              + "; that may be done by them, by an operator or an admin");
    }
  }

  /**
   * Lets through who may read what is a job's own: those of its account, and who reads all.
   *
   * @throws Refusal 403
   */
  static void mustBelong(HttpServletRequest request, Supplier<Desk.JobView> which) {
    Person person = of(request);
    if (!person.known() || person.is(Role.OPERATOR) || person.is(Role.AUDITOR)) {
      return;
    }
    Desk.JobView job = which.get();
    if (!person.belongsTo(job.account())) {
      throw no(
          "id",
          "job "
              + job.id()
              + " is of account "
              + job.account()
              + "; where its output goes is told to those of that account, operators and auditors");
    }
  }

  /**
   * Lets through who may read the ledger of an account: those who read all of it, and those of the
   * account.
   *
   * @param which account; gives null where it is asked for that of all accounts
   * @throws Refusal 403
   */
  static void mustReadLedger(HttpServletRequest request, Supplier<String> which) {
    Person person = of(request);
    if (!person.known() || person.isAny(LEDGER_READERS)) {
      return;
    }
    String account = which.get();
    if (account != null && person.belongsTo(account)) {
      return;
    }
    throw no(
        "account",
        "the ledger of all accounts is for the role "
            + Role.any(LEDGER_READERS)
            + "; "
            + person.name()
            + " may ask for account= one of the own"
            + (person.accounts().isEmpty()
                ? ", and has none"
                : ": " + String.join(", ", person.accounts())));
  }

  private static Refusal no(String field, String detail) {
    return new Refusal(
        Problem.of(403, "FORBIDDEN", "That is not yours to do", detail)
            .with(List.of(new Problem.FieldError(field, detail))));
  }
}
