package evenhand.cycle;

/** What came of letting a submitted job run. */
public sealed interface Release {

  /** It may run now, or did before, or is gone. */
  record Done() implements Release {}

  /** Not done, or not known to be done: to be tried again. */
  record Failed(String because) implements Release {}
}
