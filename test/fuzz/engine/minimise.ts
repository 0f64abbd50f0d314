import { type Coverage, Reached } from './coverage.ts';
import { runInput } from './run-input.ts';
import type { FuzzTarget } from './target.ts';

const TRIES_MAX = 20;
/** Minimum number of new source characters of an input in a corpus; a new function always counts. */
const NEW_CHARS_MIN = 150;
const SHORT_BYTES = 40;

/** Replaces bytes that do not matter. */
const PLAIN = 0x30;

/**
 * Shortens an input by cutting out ever smaller pieces, then replaces bytes that do not matter.
 * @param still - whether an input still has the wanted effect.
 * @param triesMax - maximum number of calls of `still`.
 */
export async function minimise(
  input: Uint8Array,
  still: (input: Uint8Array) => Promise<boolean>,
  triesMax: number,
): Promise<Uint8Array> {
  let least = input;
  let tries = 0;
  const take = async (candidate: Uint8Array): Promise<boolean> => {
    if (tries++ >= triesMax || !(await still(candidate))) return false;
    least = candidate;
    return true;
  };
  for (let piece = Math.ceil(input.length / 2); piece >= 1; piece = piece === 1 ? 0 : Math.ceil(piece / 2)) {
    for (let at = 0; at < least.length && tries < triesMax; ) {
      if (!(await take(without(least, at, piece)))) at += piece;
    }
  }
  for (let at = 0; at < least.length && tries < triesMax; at++) {
    if (least[at] !== PLAIN) await take(least.with(at, PLAIN));
  }
  return least;
}

const without = (bytes: Uint8Array, at: number, length: number): Uint8Array =>
  Uint8Array.from([...bytes.subarray(0, at), ...bytes.subarray(at + length)]);

/** The inputs with more coverage than the seeds and the inputs before, shortest first and minimized, as a corpus. */
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
  const isNew = async (input: Uint8Array): Promise<boolean> => {
    const { failure } = await runInput(target.fuzz, input);
    return reached.isNew(coverage.take(), NEW_CHARS_MIN) && failure === null;
  };
  coverage.take();
  for (const seed of target.seeds) await add(seed);
  const stored: Uint8Array[] = [];
  for (const input of inputs.toSorted((a, b) => a.length - b.length)) {
    if (!(await isNew(input))) continue;
    // A minimized input may lose some of the new coverage.
    const small = input.length > SHORT_BYTES ? await minimise(input, isNew, TRIES_MAX) : input;
    await add(small);
    stored.push(small);
  }
  return stored;
}
