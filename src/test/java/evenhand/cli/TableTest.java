package evenhand.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class TableTest {

  @Test
  void columnsAreAlignedByWhatATerminalShows() {
    assertEquals(
        """
        NAME    GPUS  WHY
        연구실     2  -
        b\u0301 x       12  two  words
        """,
        Table.of("NAME", ">GPUS", "WHY")
            .row("연구실", 2, null)
            .row("b\u0301\nx", 12, "two\r\nwords")
            .text());
  }
}
