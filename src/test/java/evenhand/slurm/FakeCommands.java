package evenhand.slurm;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** A folder of shell scripts that stand for Slurm's commands. */
record FakeCommands(Path bin) {

  FakeCommands {
    try {
      Files.createDirectories(bin);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Puts a command there, or another in its place. */
  FakeCommands command(String name, String body) {
    try {
      Path file = bin.resolve(name);
      Files.writeString(file, "#!/bin/sh\n" + body + "\n");
      Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A command that prints this text, whatever it is asked. */
  FakeCommands printing(String name, String text) {
    try {
      Files.writeString(bin.resolve(name + ".txt"), text);
      return command(name, "cat '" + bin.resolve(name + ".txt") + "'");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  String read(String file) {
    try {
      return Files.readString(bin.resolve(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
