package evenhand.slurm.text;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/**
 * Jobs in JSON: of the queue ({@code job_state}, times in the record) and of accounting ({@code
 * state.current}, times under {@code time}), 21.08 to 25.x.
 */
final class JobsJson {
  private JobsJson() {}

  static Reading<Job> read(String text) {
    Reading<JsonNode> records = SlurmJson.records(text, "jobs");
    List<Reading.Fault> faults = new ArrayList<>(records.faults());
    Attempts attempts = new Attempts();
    HostBudget hosts = new HostBudget();
    int number = 0;
    for (JsonNode record : records.values()) {
      number++;
      try {
        attempts.add(
            (record.has("job_state") ? queued(record, hosts) : accounted(record, hosts)).settle());
      } catch (IllegalArgumentException e) {
        faults.add(new Reading.Fault(0, "job " + number + " of the list: " + e.getMessage()));
      }
    }
    return new Reading<>(attempts.jobs(), faults);
  }

  private static JobSheet queued(JsonNode record, HostBudget hosts) {
    JobSheet sheet = new JobSheet(hosts);
    identify(
        sheet,
        record,
        record.path("array_job_id"),
        record.path("array_task_string"),
        record.path("array_task_id"),
        record.path("het_job_id"),
        record.path("het_job_offset"));
    sheet.state = Jobs.jsonState(record.path("job_state"));
    sheet.name = record.path("name").asString("");
    String user = SlurmJson.text(record.path("user_name"));
    sheet.user = user == null ? SlurmJson.text(record.path("user_id")) : user;
    sheet.reason = Jobs.reason(SlurmJson.text(record.path("state_reason")));
    if (record.has("nodes")) {
      sheet.nodes(SlurmJson.text(record.path("nodes")));
    }
    sheet.gpus = gpus(record, sheet.nodes == null ? 0 : sheet.nodes.size());
    sheet.submit = moment(record.path("submit_time"));
    sheet.start = moment(record.path("start_time"));
    sheet.end = moment(record.path("end_time"));
    sheet.exit = ExitStatus.read(record.path("exit_code"));
    sheet.restarts = number(record.path("restart_cnt"));
    sheet.comment = SlurmJson.text(record.path("comment"));
    sheet.limit = Times.minutes(SlurmJson.number(record.path("time_limit")));
    return sheet;
  }

  private static JobSheet accounted(JsonNode record, HostBudget hosts) {
    JobSheet sheet = new JobSheet(hosts);
    JsonNode array = record.path("array");
    JsonNode het = record.path("het");
    identify(
        sheet,
        record,
        array.path("job_id"),
        array.path("task"),
        array.path("task_id"),
        het.path("job_id"),
        het.path("job_offset"));
    JsonNode state = record.path("state");
    sheet.state = Jobs.jsonState(state.isObject() ? state.path("current") : state);
    sheet.pastRun = sheet.state.pending() && !sheet.state.flags().isEmpty();
    sheet.name = record.path("name").asString("");
    String user = SlurmJson.text(record.path("user"));
    sheet.user = user == null ? SlurmJson.text(record.path("association").path("user")) : user;
    sheet.reason = Jobs.reason(SlurmJson.text(state.path("reason")));
    if (record.has("nodes")) {
      sheet.nodes(SlurmJson.text(record.path("nodes")));
    }
    JsonNode tres = record.path("tres");
    if (tres.isObject()) {
      List<GpuCount> allocated = listed(tres.path("allocated"));
      sheet.gpus = allocated.isEmpty() ? listed(tres.path("requested")) : allocated;
    }
    JsonNode time = record.path("time");
    sheet.submit = moment(time.path("submission"));
    sheet.start = moment(time.path("start"));
    sheet.end = moment(time.path("end"));
    sheet.elapsed = SlurmJson.number(time.path("elapsed"));
    sheet.limit = Times.minutes(SlurmJson.number(time.path("limit")));
    sheet.exit = ExitStatus.read(record.path("exit_code"));
    if (sheet.state.main().equals("FAILED") && new ExitStatus(0, 0).equals(sheet.exit)) {
      // Seen with 22.05, where the text of the same sacct gives the code.
      sheet.exit = null;
      sheet.notes.add("it failed, but this JSON gives exit code 0: ask sacct -P for the code");
    }
    sheet.restarts = number(record.path("restart_cnt"));
    sheet.comment = SlurmJson.text(record.path("comment").path("job"));
    for (JsonNode step : record.path("steps")) {
      ExitStatus exit = ExitStatus.read(step.path("exit_code"));
      sheet.steps.add(
          new Job.Step(
              step(step.path("step")),
              String.join("+", SlurmJson.words(step.path("state"))),
              exit == null ? null : exit.code(),
              exit == null ? null : exit.signal(),
              SlurmJson.number(step.path("time").path("elapsed"))));
    }
    return sheet;
  }

  /** A step as text names it: since 23.11 JSON puts the job before it ({@code 7.batch}). */
  private static String step(JsonNode step) {
    String id = SlurmJson.text(step.path("id"));
    return id == null ? SlurmJson.text(step.path("name")) : id.substring(id.indexOf('.') + 1);
  }

  private static void identify(
      JobSheet sheet,
      JsonNode record,
      JsonNode arrayJob,
      JsonNode tasks,
      JsonNode task,
      JsonNode hetJob,
      JsonNode hetOffset) {
    sheet.jobRaw = text(SlurmJson.number(record.path("job_id")));
    String waiting = SlurmJson.text(tasks);
    sheet.id(
        Jobs.id(
            sheet.jobRaw,
            text(SlurmJson.number(arrayJob)),
            waiting == null ? text(SlurmJson.number(task)) : waiting,
            text(SlurmJson.number(hetJob)),
            text(SlurmJson.number(hetOffset))));
    sheet.account = SlurmJson.text(record.path("account"));
    sheet.partition = SlurmJson.text(record.path("partition"));
  }

  private static List<GpuCount> gpus(JsonNode record, int nodes) {
    // One entry a node, with models even where the request had none; while it runs only.
    List<String> held = SlurmJson.words(record.path("gres_detail"));
    List<GpuCount> gpus = Gres.read(String.join(",", held)).gpus();
    if (!gpus.isEmpty()) {
      return gpus;
    }
    Long count = SlurmJson.number(record.path("node_count"));
    String allocated = SlurmJson.text(record.path("tres_alloc_str"));
    return Jobs.gpus(
        allocated == null ? SlurmJson.text(record.path("tres_req_str")) : allocated,
        SlurmJson.text(record.path("tres_per_node")),
        text(count == null && nodes > 0 ? Long.valueOf(nodes) : count),
        SlurmJson.text(record.path("tres_per_job")),
        SlurmJson.text(record.path("tres_per_task")),
        text(SlurmJson.number(record.path("tasks"))));
  }

  /** TRES as a list of {@code {"type":"gres","name":"gpu:a100","count":2}}. */
  private static List<GpuCount> listed(JsonNode list) {
    StringBuilder tres = new StringBuilder();
    for (JsonNode item : list) {
      Long count = SlurmJson.number(item.path("count"));
      if ("gres".equals(item.path("type").asString("")) && count != null && count >= 0) {
        tres.append(tres.isEmpty() ? "" : ",");
        tres.append("gres/").append(item.path("name").asString("")).append('=').append(count);
      }
    }
    return Tres.read(tres.toString()).byModel();
  }

  private static Instant moment(JsonNode node) {
    Long seconds = SlurmJson.number(node);
    return seconds == null ? null : Times.epoch(seconds);
  }

  private static Integer number(JsonNode node) {
    return Jobs.small(text(SlurmJson.number(node)));
  }

  private static String text(Long number) {
    return number == null ? null : number.toString();
  }
}
