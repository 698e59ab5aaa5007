package evenhand.store;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.InflaterInputStream;

/**
 * Texts of decisions, kept small: a text is cut where a JSON list goes on, pieces that stand in an
 * earlier text, its base, are only pointed to, and what is left is deflated. From one cycle to the
 * next nearly all pieces are the same.
 *
 * <p>Packed bytes: four of a CRC-32 over the others, so that any changed byte is found, then the
 * deflated steps. A step is a count and, where that is above 0, the index of the first of so many
 * pieces of the base; a count of 0 is followed by the length of new text in UTF-8, and that text.
 */
final class Packed {
  private static final int CHECK = 4;

  /** More than any decision takes; a length beyond it is no length. */
  private static final int MOST_BYTES = 1 << 30;

  private Packed() {}

  /** The packed bytes are not what was written; the message says what is wrong. */
  static final class Damaged extends Exception {
    private static final long serialVersionUID = 1L;

    Damaged(String message) {
      super(message);
    }
  }

  /** A text that others may be packed against. */
  static final class Base {
    private final List<String> pieces;
    private final Map<String, Integer> places = new HashMap<>();

    Base(String text) {
      pieces = cut(text);
      for (int i = 0; i < pieces.size(); i++) {
        places.putIfAbsent(pieces.get(i), i);
      }
    }
  }

  /** Nothing: what is packed against it stands alone. */
  static final Base ALONE = new Base("");

  /** Cut after each comma between objects of a list, and where a list begins. */
  private static List<String> cut(String text) {
    List<String> pieces = new ArrayList<>();
    int from = 0;
    for (int i = 2; i < text.length(); i++) {
      if (text.charAt(i) == '{'
          && (text.charAt(i - 1) == ',' && text.charAt(i - 2) == '}'
              || text.charAt(i - 1) == '[' && text.charAt(i - 2) == ':')) {
        pieces.add(text.substring(from, i));
        from = i;
      }
    }
    if (from < text.length()) {
      pieces.add(text.substring(from));
    }
    return pieces;
  }

  static byte[] pack(String text, Base base) {
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    Deflater deflater = new Deflater(Deflater.DEFAULT_COMPRESSION);
    try (DataOutputStream out =
        new DataOutputStream(new DeflaterOutputStream(packed, deflater, 1 << 13))) {
      StringBuilder fresh = new StringBuilder();
      int from = -1;
      int count = 0;
      for (String piece : cut(text)) {
        int next = from + count;
        boolean goesOn =
            count > 0 && next < base.pieces.size() && base.pieces.get(next).equals(piece);
        Integer place = goesOn ? null : base.places.get(piece);
        if (!goesOn && count > 0) {
          copy(out, from, count);
          count = 0;
        }
        if (goesOn) {
          count++;
        } else if (place == null) {
          fresh.append(piece);
        } else {
          write(out, fresh);
          from = place;
          count = 1;
        }
      }
      if (count > 0) {
        copy(out, from, count);
      }
      write(out, fresh);
    } catch (IOException e) {
      throw new IllegalStateException("nothing is written but memory", e);
    } finally {
      deflater.end();
    }
    byte[] body = packed.toByteArray();
    return ByteBuffer.allocate(CHECK + body.length).putInt(check(body, 0)).put(body).array();
  }

  private static void copy(DataOutputStream out, int from, int count) throws IOException {
    out.writeInt(count);
    out.writeInt(from);
  }

  private static void write(DataOutputStream out, StringBuilder fresh) throws IOException {
    if (!fresh.isEmpty()) {
      byte[] bytes = fresh.toString().getBytes(StandardCharsets.UTF_8);
      out.writeInt(0);
      out.writeInt(bytes.length);
      out.write(bytes);
      fresh.setLength(0);
    }
  }

  private static int check(byte[] bytes, int from) {
    CRC32 crc = new CRC32();
    crc.update(bytes, from, bytes.length - from);
    return (int) crc.getValue();
  }

  static String unpack(byte[] packed, Base base) throws Damaged {
    if (packed.length < CHECK || ByteBuffer.wrap(packed).getInt() != check(packed, CHECK)) {
      throw new Damaged("its bytes do not match their checksum");
    }
    StringBuilder text = new StringBuilder();
    InputStream body = new ByteArrayInputStream(packed, CHECK, packed.length - CHECK);
    try (DataInputStream in = new DataInputStream(new InflaterInputStream(body))) {
      for (int count = next(in); count >= 0; count = next(in)) {
        int number = in.readInt();
        if (count == 0) {
          if (number < 0 || number > MOST_BYTES) {
            throw new Damaged("it has a text of " + number + " bytes in it");
          }
          text.append(new String(in.readNBytes(number), StandardCharsets.UTF_8));
        } else {
          if (number < 0 || (long) number + count > base.pieces.size()) {
            throw new Damaged("it points beyond the end of its base");
          }
          base.pieces.subList(number, number + count).forEach(text::append);
        }
      }
    } catch (IOException e) {
      throw new Damaged("it cannot be unpacked: " + e.getMessage());
    }
    return text.toString();
  }

  /** The count of the next step; -1 after the last. */
  private static int next(DataInputStream in) throws IOException, Damaged {
    try {
      int count = in.readInt();
      if (count < 0) {
        throw new Damaged("it has a step of " + count + " pieces in it");
      }
      return count;
    } catch (EOFException e) {
      return -1;
    }
  }
}
