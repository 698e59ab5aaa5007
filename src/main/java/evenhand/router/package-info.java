/**
 * The LLM router over HTTP (B1 to B3): told which GPUs to give up, beside the cycle and never
 * waited for. What cannot be delivered is logged, counted and tried again until it is too old to
 * matter.
 */
package evenhand.router;
