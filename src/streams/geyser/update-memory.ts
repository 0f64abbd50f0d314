import type { RawUpdate } from '../../protocol/geyser/raw-update.ts';

/**
 * Bytes of the heap that an update takes besides those of its message: the object, its views and its places in the
 * lists of its slot and of the block that is put together. Measured in Node 24 with updates read from a server's
 * stream.
 */
const OBJECT_BYTES: Readonly<Record<RawUpdate['kind'], number>> = {
  account: 1_000,
  transaction: 1_000,
  entry: 480,
  blockMeta: 640,
  slot: 420,
};
const KEY_OFFSET_BYTES = 8;

/** What an update takes while it is held, in bytes. */
export const updateMemoryBytes = (update: RawUpdate): number =>
  OBJECT_BYTES[update.kind] +
  update.tail.length +
  (update.kind === 'transaction' ? update.keys.offsets.length * KEY_OFFSET_BYTES : 0);
