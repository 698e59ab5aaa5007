package evenhand.sandbox;

/** A program that starts a sandbox with a running job, says where it is, and never closes it. */
final class AbandonedSandbox {
  private AbandonedSandbox() {}

  public static void main(String[] arguments) throws InterruptedException {
    SlurmSandbox slurm = SlurmSandbox.builder().start();
    String job = slurm.submit("sleep 600");
    slurm.awaitJob(job, "RUNNING", java.time.Duration.ofSeconds(20));
    System.out.println(slurm.folder());
    System.out.flush();
    if (arguments[0].equals("stay")) {
      // Bounded, should the test that ought to kill us be gone.
      Thread.sleep(60_000);
    }
  }
}
