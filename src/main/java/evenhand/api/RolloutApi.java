package evenhand.api;

import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * The part of the API that changes the policy, to be imported beside {@link Api}. It needs these
 * beans: a {@link evenhand.rollout.Rollout}, a {@link evenhand.rollout.Planner} and a {@link
 * evenhand.rollout.Shadow}.
 */
@Configuration(proxyBeanMethods = false)
@Import(PolicyRoute.class)
public class RolloutApi {}
