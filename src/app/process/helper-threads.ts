import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, constants, getPriority, setPriority } from 'node:os';
import { setFlagsFromString } from 'node:v8';

/** Bytecode that V8 may inline into one function. */
const INLINED_MAX_BYTES = 4_000;

export const INLINING_FLAG = '--max-inlined-bytecode-size-cumulative';

/**
 * Raises V8's limit of inlined bytecode (its own is 920 bytes) for what it compiles from now on: a call goes through some
 * sixty short functions, and to call them is a good part of what it costs. Called once, before anything is served.
 * Source: `node --v8-options`.
 */
export const raiseInliningLimit = (): void => setFlagsFromString(`${INLINING_FLAG}=${INLINED_MAX_BYTES}`);

/** As V8's threads that compile and collect garbage are called. */
const HELPER = 'V8Worker';
const TASKS = '/proc/self/task';

/** While memory is collected the thread that answers waits for helpers: better it does the work, which is short, itself. */
const SCAVENGE_FLAG = '--no-parallel-scavenge';
/** As far behind as `nice` puts a program, by itself; the system knows no priority below the lowest. */
const STEP = constants.priority.PRIORITY_BELOW_NORMAL;
const LOWEST = constants.priority.PRIORITY_LOW;

const isHelper = (task: string): boolean =>
  readFileSync(`${TASKS}/${task}/comm`, 'latin1').startsWith(HELPER);

/**
 * Lets V8's helper threads run after those that answer, if there are as many processes that answer as processors:
 * there each of them takes the processor from one that answers, for some milliseconds at a time. They are not put last
 * of all: who answers may have to wait for one of them, which must then get its time beside other programs too. Called
 * once, before anything is served. Only Linux tells one thread from another; elsewhere they keep their priority, and the
 * thread that answers collects young garbage alone all the same.
 * @param answering - processes that answer, on this machine.
 * @returns how many threads step back.
 */
export function deprioritizeHelperThreads(
  servingProcesses: number,
  processors = availableParallelism(),
): number {
  if (servingProcesses < processors) return 0;
  setFlagsFromString(SCAVENGE_FLAG);
  try {
    const helpers = readdirSync(TASKS).filter(isHelper);
    const lowered = Math.min(LOWEST, getPriority() + STEP);
    for (const helper of helpers) setPriority(Number(helper), lowered);
    return helpers.length;
  } catch {
    // No /proc, or a sandbox that lets no priority be changed: slower then, and as right.
    return 0;
  }
}
