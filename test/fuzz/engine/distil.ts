import { type Coverage, Reached } from './coverage.ts';
import { minimise } from './minimise.ts';
import { runInput } from './run-input.ts';
import type { FuzzTarget } from './target.ts';

/** How often an input may be tried smaller before it is kept as it is. */
const TRIES_MAX = 20;
/** What is longer is tried smaller first. */
const SHORT_BYTES = 40;

/** Whether an input reaches what was not reached, and still ends well. */
async function reachesNew(
  target: FuzzTarget,
  coverage: Coverage,
  reached: Reached,
  input: Uint8Array,
): Promise<boolean> {
  const { failure } = await runInput(target.fuzz, input);
  return reached.isNew(coverage.take()) && failure === null;
}

/**
 * The inputs that reach more than the seeds and those before them, the shortest first and each made smaller: what a
 * corpus holds.
 */
export async function distil(
  target: FuzzTarget,
  coverage: Coverage,
  inputs: readonly Uint8Array[],
): Promise<Uint8Array[]> {
  const reached = new Reached();
  const add = async (input: Uint8Array): Promise<void> => {
    await runInput(target.fuzz, input);
    reached.add(coverage.take());
  };
  const isNew = (input: Uint8Array): Promise<boolean> => reachesNew(target, coverage, reached, input);
  coverage.take();
  for (const seed of target.seeds) await add(seed);
  const stored: Uint8Array[] = [];
  for (const input of inputs.toSorted((a, b) => a.length - b.length)) {
    if (!(await isNew(input))) continue;
    // Smaller, it may reach less of the new; the rest comes again with another input, or is not worth its bytes.
    const small = input.length > SHORT_BYTES ? await minimise(input, isNew, TRIES_MAX) : input;
    await add(small);
    stored.push(small);
  }
  return stored;
}
