package evenhand.api;

import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * The whole API, to be imported by the service. It needs these beans: a {@link
 * evenhand.cycle.Desk}, a {@link evenhand.cycle.Contract}, {@link evenhand.cycle.JobOutputs}, a
 * {@link evenhand.cycle.Ledger}, {@link evenhand.cycle.Receipts}, an {@link
 * evenhand.cycle.accounts.AccountDesk}, an {@link evenhand.cycle.events.EventFeed}, an {@link
 * ActivePolicy} and a {@link CycleNow}.
 */
@Configuration(proxyBeanMethods = false)
@Import({
  JobsRoute.class,
  ContractRoute.class,
  StandingRoute.class,
  DecisionsRoute.class,
  AccountsRoute.class,
  LedgerRoute.class,
  NowRoute.class,
  EventsRoute.class,
  EventStreams.class,
  Page.class,
  Body.class,
  Problems.class,
  WebServer.class,
  ErrorPage.class,
  Description.class
})
public class Api {}
