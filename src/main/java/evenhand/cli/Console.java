package evenhand.cli;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;

/**
 * What a command reads and writes, all text in UTF-8 whatever the machine's own charset is.
 *
 * @param environment variables of the process
 */
public record Console(
    InputStream in, PrintStream out, PrintStream err, Map<String, String> environment) {

  /** What a file called {@code -} is called in messages. */
  static final String STANDARD_INPUT = "standard input";

  /** The process's own streams. */
  public static Console ofProcess() {
    return new Console(
        // buffered, for a bare FileInputStream asks a pipe for its length when it is read to the
        // end
        new java.io.BufferedInputStream(new FileInputStream(FileDescriptor.in)),
        stream(new FileOutputStream(FileDescriptor.out)),
        stream(new FileOutputStream(FileDescriptor.err)),
        System.getenv());
  }

  /** A stream of UTF-8 text; it is flushed when the command ends. */
  static PrintStream stream(OutputStream to) {
    return new PrintStream(
        new java.io.BufferedOutputStream(to, 1 << 16), false, StandardCharsets.UTF_8);
  }

  /** What a file is called in messages. */
  static String called(String file) {
    return file.equals("-") ? STANDARD_INPUT : file;
  }

  /**
   * Opens a file, or standard input for {@code -}.
   *
   * @throws Failed with status 2 when it cannot be opened
   */
  InputStream open(String file) {
    if (file.equals("-")) {
      return in;
    }
    try {
      Path path = Path.of(file);
      if (Files.isDirectory(path)) {
        throw new Failed(
            Exit.WRONG_USE,
            file + " is a directory; name a file, or - for " + STANDARD_INPUT + ".");
      }
      return Files.newInputStream(path);
    } catch (NoSuchFileException | InvalidPathException e) {
      throw new Failed(Exit.WRONG_USE, "There is no file " + file + ".");
    } catch (AccessDeniedException e) {
      throw new Failed(Exit.WRONG_USE, "The file " + file + " may not be read.");
    } catch (IOException e) {
      throw new Failed(
          Exit.WRONG_USE, "The file " + file + " cannot be opened: " + e.getMessage() + ".");
    }
  }

  /**
   * All of a file, or of standard input for {@code -}.
   *
   * @throws Failed with status 2 when it cannot be read or is no text in UTF-8
   */
  public String read(String file) {
    try (InputStream from = open(file)) {
      byte[] bytes = from.readAllBytes();
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      throw new Failed(Exit.WRONG_USE, called(file) + " is not text in UTF-8.");
    } catch (IOException e) {
      throw new Failed(Exit.WRONG_USE, called(file) + " cannot be read: " + e.getMessage() + ".");
    } catch (OutOfMemoryError e) {
      throw new Failed(Exit.WRONG_USE, called(file) + " is too large to be read at once.");
    }
  }
}
