/**
 * What happened, in order: {@link evenhand.cycle.events.EventLog} is the port to the memory, {@link
 * evenhand.cycle.events.EventFeed} follows it for all who listen here. An event is written in the
 * transaction that makes it true, and is never changed; nothing decides by it.
 */
package evenhand.cycle.events;
