/**
 * What a policy would decide were something otherwise, and what it says of itself. All of it asks
 * the policy: no rule is written a second time here, so an edited rule changes every answer. Pure
 * as the policy is: the same snapshot gives the same answer.
 */
package evenhand.explain;
