package evenhand.policy;

import evenhand.policy.PolicyFault.Fault;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;

/** Where rule files and policies come from: a folder, or the copy that travels in the jar. */
public interface RuleFiles {
  long MAX_BYTES = 1 << 20;

  String ENDING_OF_RULES = ".drl";

  /**
   * The text of a file below the rules folder, e.g. {@code fit/F1.drl}; empty when there is none.
   */
  Optional<String> read(String path) throws PolicyFault;

  /** Names of the policies: the files of {@code policies/}, without their ending, sorted. */
  List<String> policies() throws PolicyFault;

  /** Paths of all rule files, as {@link #read} takes them, sorted. */
  List<String> ruleFiles() throws PolicyFault;

  /** Where that is, for people. */
  String where();

  /** The folder given; else {@code rules} below the current folder; else the copy in the jar. */
  static RuleFiles of(Optional<Path> folder) {
    if (folder.isPresent()) {
      return new Folder(folder.get());
    }
    Path here = Path.of("rules");
    return Files.isDirectory(here.resolve("policies")) ? new Folder(here) : new Bundled();
  }

  /** Whether a file's name is one that editors give to copies and locks of their own. */
  static boolean isEditors(String name) {
    return name.startsWith(".") || name.startsWith("#");
  }

  /** A folder on disk. */
  record Folder(Path folder) implements RuleFiles {
    @Override
    public Optional<String> read(String path) throws PolicyFault {
      Path file;
      try {
        file = folder.resolve(path).normalize();
      } catch (InvalidPathException e) {
        return Optional.empty(); // no file can be called so
      }
      if (!file.startsWith(folder.normalize()) || !Files.isRegularFile(file)) {
        return Optional.empty();
      }
      try {
        if (Files.size(file) > MAX_BYTES) {
          throw new PolicyFault(new Fault(path, 0, null, "is larger than 1 MiB"));
        }
        return Optional.of(text(path, Files.readAllBytes(file)));
      } catch (IOException e) {
        throw new PolicyFault(new Fault(path, 0, null, "cannot be read: " + why(e)));
      }
    }

    private static String why(IOException e) {
      return e instanceof AccessDeniedException denied
          ? "the user who runs this may not look into " + denied.getFile()
          : e instanceof NoSuchFileException ? "there is no " + e.getMessage() : e.getMessage();
    }

    /**
     * What editors of other systems put in is no part of the rules: a mark of the byte order at the
     * beginning, and carriage returns at the ends of lines.
     */
    private static String text(String path, byte[] bytes) throws PolicyFault {
      ByteBuffer in = ByteBuffer.wrap(bytes);
      CharBuffer out = CharBuffer.allocate(bytes.length);
      if (StandardCharsets.UTF_8.newDecoder().decode(in, out, true).isError()) {
        int line = 1 + (int) out.flip().chars().filter(c -> c == '\n').count();
        throw new PolicyFault(
            new Fault(path, line, null, "is not UTF-8 text; save it in that encoding"));
      }
      String text = out.flip().toString().replace("\r\n", "\n");
      return text.startsWith("\uFEFF") ? text.substring(1) : text;
    }

    /**
     * Files below the folder, or below what stands in its place by a link, whose names end so.
     * Folders whose names begin with a dot are passed over: version control and mounts keep copies
     * in them.
     *
     * @throws IOException when the folder is gone, or was changed while it was looked through
     */
    public List<Path> files(String... endings) throws IOException {
      List<Path> found = new ArrayList<>();
      Files.walkFileTree(
          folder,
          EnumSet.of(FileVisitOption.FOLLOW_LINKS),
          Integer.MAX_VALUE,
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path at, BasicFileAttributes is) {
              return !at.equals(folder) && isEditors(String.valueOf(at.getFileName()))
                  ? FileVisitResult.SKIP_SUBTREE
                  : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path at, BasicFileAttributes is) {
              String name = String.valueOf(at.getFileName());
              if (is.isRegularFile()
                  && !isEditors(name)
                  && Stream.of(endings).anyMatch(name::endsWith)) {
                found.add(at);
              }
              return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path at, IOException e) throws IOException {
              if (e instanceof FileSystemLoopException) {
                return FileVisitResult.CONTINUE; // what it leads to was looked through already
              }
              throw e;
            }
          });
      return found;
    }

    @Override
    public List<String> policies() throws PolicyFault {
      Path policies = folder.resolve("policies");
      if (!Files.isDirectory(policies)) {
        throw new PolicyFault(
            new Fault("policies", 0, null, "there is no such folder in " + folder));
      }
      try (Stream<Path> files = Files.list(policies)) {
        return files
            .map(f -> f.getFileName().toString())
            .filter(n -> n.endsWith(".yaml") && !isEditors(n))
            .map(n -> n.substring(0, n.length() - ".yaml".length()))
            .sorted()
            .toList();
      } catch (IOException | UncheckedIOException e) {
        throw new PolicyFault(
            new Fault("policies", 0, null, "cannot be listed: " + e.getMessage()));
      }
    }

    @Override
    public List<String> ruleFiles() throws PolicyFault {
      try {
        return files(ENDING_OF_RULES).stream()
            .map(f -> folder.relativize(f).toString().replace(File.separatorChar, '/'))
            .sorted()
            .toList();
      } catch (IOException e) {
        throw new PolicyFault(new Fault(folder.toString(), 0, null, "cannot be listed: " + why(e)));
      }
    }

    @Override
    public String where() {
      return folder.toString();
    }
  }

  /** The copy in the jar. */
  record Bundled() implements RuleFiles {
    @Override
    public Optional<String> read(String path) throws PolicyFault {
      try (InputStream in = RuleFiles.class.getClassLoader().getResourceAsStream("rules/" + path)) {
        return in == null
            ? Optional.empty()
            : Optional.of(new String(in.readAllBytes(), StandardCharsets.UTF_8));
      } catch (IOException e) {
        throw new PolicyFault(new Fault(path, 0, null, "cannot be read: " + e.getMessage()));
      }
    }

    @Override
    public List<String> policies() throws PolicyFault {
      try {
        Resource[] found =
            new PathMatchingResourcePatternResolver(RuleFiles.class.getClassLoader())
                .getResources("classpath:rules/policies/*.yaml");
        return Stream.of(found)
            .map(Resource::getFilename)
            .map(n -> n.substring(0, n.length() - ".yaml".length()))
            .sorted()
            .toList();
      } catch (IOException e) {
        throw new PolicyFault(
            new Fault("policies", 0, null, "cannot be listed: " + e.getMessage()));
      }
    }

    @Override
    public List<String> ruleFiles() throws PolicyFault {
      try {
        Resource[] found =
            new PathMatchingResourcePatternResolver(RuleFiles.class.getClassLoader())
                .getResources("classpath:rules/**/*" + ENDING_OF_RULES);
        List<String> paths = new ArrayList<>();
        for (Resource resource : found) {
          String address = resource.getURL().toString();
          paths.add(address.substring(address.lastIndexOf("/rules/") + "/rules/".length()));
        }
        return paths.stream().sorted().toList();
      } catch (IOException e) {
        throw new PolicyFault(new Fault("rules", 0, null, "cannot be listed: " + e.getMessage()));
      }
    }

    @Override
    public String where() {
      return "the jar";
    }
  }

  /** All of them as they are at this moment, so that what is looked at twice is the same twice. */
  default Stored copy() throws PolicyFault {
    Map<String, String> texts = new LinkedHashMap<>();
    Map<String, PolicyFault> unreadable = new HashMap<>();
    List<String> paths = new ArrayList<>(ruleFiles());
    policies().forEach(name -> paths.add(Stored.FOLDER + name + Stored.ENDING));
    for (String path : paths) {
      try {
        read(path).ifPresent(text -> texts.put(path, text));
      } catch (PolicyFault e) {
        unreadable.put(path, e);
      }
    }
    return new Stored(texts, unreadable, where());
  }

  /**
   * Texts in memory: of one policy as they were kept with its decisions, or a copy of a folder.
   *
   * @param texts by path below the rules folder; others may stand among them
   * @param unreadable those that could not be copied, and why
   */
  record Stored(Map<String, String> texts, Map<String, PolicyFault> unreadable, String where)
      implements RuleFiles {
    private static final String FOLDER = "policies/";
    private static final String ENDING = ".yaml";

    /** What was kept. */
    public Stored(Map<String, String> texts) {
      this(texts, Map.of(), "what is stored");
    }

    @Override
    public Optional<String> read(String path) throws PolicyFault {
      if (unreadable.containsKey(path)) {
        throw unreadable.get(path);
      }
      return Optional.ofNullable(texts.get(path));
    }

    @Override
    public List<String> policies() {
      return texts.keySet().stream()
          .filter(path -> path.startsWith(FOLDER) && path.endsWith(ENDING))
          .map(path -> path.substring(FOLDER.length(), path.length() - ENDING.length()))
          .sorted()
          .toList();
    }

    @Override
    public List<String> ruleFiles() {
      return texts.keySet().stream().filter(p -> p.endsWith(ENDING_OF_RULES)).sorted().toList();
    }
  }
}
