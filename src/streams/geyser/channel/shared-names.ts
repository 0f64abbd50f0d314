import { Lru } from '../../../base/cache/lru.ts';
import { bytesKey } from '../../../base/text/bytes-key.ts';
import { encodeNames } from '../../../protocol/geyser/encode/names.ts';

/** Name sets that are remembered; a few hundred bytes each. */
const SETS_MAX = 4096;
/** Longer ones are rare, and are not shared. */
const SHARED_MAX_BYTES = 256;

/** By what they are. */
const encodedSets = new Lru<string, Uint8Array>(SETS_MAX);

/**
 * Encodes names of filters. Streams whose filters have equal names have the same bytes, by which a server knows
 * messages that are equal to the last.
 */
export function sharedNames(names: readonly string[]): Uint8Array {
  const encoded = encodeNames(names);
  if (encoded.length > SHARED_MAX_BYTES) return encoded;
  const text = bytesKey(encoded);
  const existing = encodedSets.get(text);
  if (existing !== undefined) return existing;
  encodedSets.set(text, encoded);
  return encoded;
}
