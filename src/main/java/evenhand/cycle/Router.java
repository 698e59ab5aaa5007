package evenhand.cycle;

import evenhand.outcomes.Yield;

/** The LLM router (B1 to B3): told which GPUs to give up, never waited for. */
public interface Router {

  /** Hands the message over for sending and returns at once, whatever becomes of it. */
  void yield(Yield order);

  /** No router: nothing is told to anyone. */
  Router NONE = order -> {};
}
