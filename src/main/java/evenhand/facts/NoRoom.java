package evenhand.facts;

/**
 * No room could be made for the job whose turn it is.
 *
 * @param byAnyone whether it would have room if all unprotected work made it, whoever's it is
 * @param freeAt when the first protection that is in its way ends, ISO 8601; null where none is
 */
public record NoRoom(boolean byAnyone, String freeAt) {}
