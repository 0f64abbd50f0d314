/** Replaces bytes that do not matter. */
const PLAIN = 0x30;

/**
 * Shortens an input by cutting out ever smaller pieces, then replaces bytes that do not matter.
 * @param still - whether an input has the effect to keep.
 * @param triesMax - the limit of calls of `still`.
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
