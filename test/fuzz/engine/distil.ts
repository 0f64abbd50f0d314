import { type Coverage, Reached } from './coverage.ts';
import { minimise } from './minimise.ts';
import { runInput } from './run-input.ts';
import type { FuzzTarget } from './target.ts';

/** Attempts to minimise an input. */
const TRIES_MAX = 20;
/** Shorter inputs are not minimised. */
const SHORT_BYTES = 40;

/** Whether an input has new coverage and does not fail. */
async function reachesNew(
  target: FuzzTarget,
  coverage: Coverage,
  reached: Reached,
  input: Uint8Array,
): Promise<boolean> {
  const { failure } = await runInput(target.fuzz, input);
  return reached.isNew(coverage.take()) && failure === null;
}

/** The inputs with more coverage than the seeds and the inputs before, shortest first and minimised, as a corpus. */
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
    // A minimised input may lose some of the new coverage.
    const small = input.length > SHORT_BYTES ? await minimise(input, isNew, TRIES_MAX) : input;
    await add(small);
    stored.push(small);
  }
  return stored;
}
