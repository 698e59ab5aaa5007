/**
 * Slurm as the cycle's cluster, by its own commands: {@code scontrol}, {@code squeue}, {@code
 * sacct}, {@code sbatch}, {@code scancel}, from 20.11 to 25.x.
 *
 * <p>How it is done:
 *
 * <ul>
 *   <li>No shell anywhere. A command is a list of arguments; the script of a job goes to {@code
 *       sbatch} on its standard input as {@code /dev/stdin}, because arguments can follow that name
 *       and cannot follow a script that is merely piped in; the job's environment goes in a private
 *       file ({@code --export-file}), because {@code --export} splits at commas, runs a login shell
 *       on the node, and would put the job's variables into sbatch itself.
 *   <li>Only jobs of the service's own user are looked at ({@code --me}). That is what the
 *       controller filters by itself, so ten thousand foreign jobs cost nothing, and nobody else
 *       can pass a job off as one of ours by its name.
 *   <li>{@code scontrol show job} is not used for lists: it prints the arguments of jobs as they
 *       are, line ends included, so that a job could write records of its own. Where it must be
 *       asked (an exit code that squeue does not tell), only what stands before the free text is
 *       read.
 *   <li>What cannot be known is said to be unknown: a sbatch that was killed, timed out or answered
 *       oddly may have submitted the job.
 * </ul>
 *
 * <p>How long a call waits when the controller is away is decided by Slurm's clients, and by no
 * option or variable of theirs but only by {@code MessageTimeout} in the slurm.conf they read. Give
 * the service a copy of slurm.conf that differs in that one line ({@code evenhand.slurm.conf}):
 * with {@code MessageTimeout=2} a controller that is down is noticed after 1.0 s and one that hangs
 * after 2.0 s, where the default of 10 takes 9.0 s and 10.0 s. Jobs do not see that copy: they get
 * the slurm.conf of their node.
 */
package evenhand.slurm;
