package evenhand.facts;

/**
 * No room could be made for the job whose turn it is.
 *
 * @param byAnyone whether it would have room if all unprotected work made it, whoever's it is
 * @param freeAt when the first protection that is in its way ends, ISO 8601; null where none is
 * @param onClaimed whether there would be room for it but that a claim holds the GPUs (G3)
 */
public record NoRoom(boolean byAnyone, String freeAt, boolean onClaimed) {}
