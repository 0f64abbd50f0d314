import { bytesKey } from '../../../base/bytes-key.ts';
import { Lru } from '../../../base/lru.ts';
import { encodeNames } from '../../../protocol/geyser/encode/names.ts';

/** Name sets that are remembered; a few hundred bytes each. */
const SETS_MAX = 4096;
/** Longer ones are rare, and are not shared. */
const SHARED_MAX_BYTES = 256;

/** By what they are. */
const known = new Lru<string, Uint8Array>(SETS_MAX);

/**
 * Encodes names of filters. Streams whose filters have equal names have the same bytes, by which a server knows
 * messages that are equal to the last.
 */
export function sharedNames(names: readonly string[]): Uint8Array {
  const encoded = encodeNames(names);
  if (encoded.length > SHARED_MAX_BYTES) return encoded;
  const text = bytesKey(encoded);
  const before = known.get(text);
  if (before !== undefined) return before;
  known.set(text, encoded);
  return encoded;
}
