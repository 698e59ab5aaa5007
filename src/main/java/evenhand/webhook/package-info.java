/**
 * Events told to other programs by HTTP: at least once, in order for each, by the process that
 * decides. How far each was told is in the database, so that a restart forgets and repeats nothing
 * but the delivery that was under way. Where they go is a setting, never a request.
 */
package evenhand.webhook;
