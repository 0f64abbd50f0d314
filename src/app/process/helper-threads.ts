import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, constants, getPriority, setPriority } from 'node:os';
import { setFlagsFromString } from 'node:v8';

/** Maximum size of the bytecode that V8 may inline into one function. */
const INLINED_MAX_BYTES = 4_000;

const INLINING_FLAG = '--max-inlined-bytecode-size-cumulative';

/**
 * Raises V8's inlining limit (default 920 bytes): a request runs about sixty short functions, and the calls are a large
 * part of its cost. Call once at startup. Source: `node --v8-options`.
 */
export const raiseInliningLimit = (): void => setFlagsFromString(`${INLINING_FLAG}=${INLINED_MAX_BYTES}`);

/** Name prefix of V8's compiler and garbage collector threads. */
const HELPER = 'V8Worker';
const TASKS = '/proc/self/task';

/** In a parallel scavenge, the main thread waits for helper threads. A short scavenge is faster without them. */
const SCAVENGE_FLAG = '--no-parallel-scavenge';
/** The default increment of `nice`. */
const STEP = constants.priority.PRIORITY_BELOW_NORMAL;
const LOWEST = constants.priority.PRIORITY_LOW;

const isHelper = (task: string): boolean =>
  readFileSync(`${TASKS}/${task}/comm`, 'latin1').startsWith(HELPER);

/**
 * If every processor has a serving process, disables parallel scavenges and lowers the priority of V8's helper threads,
 * which could stall serving threads. Lowers it by only one step, because a serving thread may wait for a helper thread.
 * Linux only; call once. @param servingProcesses - number of serving processes on this machine.
 */
export function deprioritizeHelperThreads(servingProcesses: number): void {
  if (servingProcesses < availableParallelism()) return;
  setFlagsFromString(SCAVENGE_FLAG);
  try {
    const helpers = readdirSync(TASKS).filter(isHelper);
    const lowered = Math.min(LOWEST, getPriority() + STEP);
    for (const helper of helpers) setPriority(Number(helper), lowered);
  } catch {
    // Without /proc, or in a sandbox that forbids setting priorities, the service works, but more slowly.
  }
}
