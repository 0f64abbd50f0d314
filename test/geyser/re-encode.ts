import { blockTail } from '../../src/protocol/geyser/encode/block.ts';
import { encodeNames, pingTail, pongTail } from '../../src/protocol/geyser/encode/envelope.ts';
import { rawAccount } from '../../src/protocol/geyser/encode/raw-account.ts';
import { rawBlockMeta, rawEntry, rawSlot } from '../../src/protocol/geyser/encode/raw-slot.ts';
import { rawTransaction } from '../../src/protocol/geyser/encode/raw-transaction.ts';
import type { RawBlock, RawUpdate } from '../../src/protocol/geyser/raw-update.ts';
import { readRawUpdate } from '../../src/protocol/geyser/read-raw-update.ts';
import { decodeUpdate, type Update } from '../../src/protocol/geyser/update/decode-update.ts';
import type { BlockUpdate, TypedUpdate } from './shapes.ts';

export function rawBlock(block: BlockUpdate, createdAt: Uint8Array): RawBlock {
  const { header } = block;
  const { slot } = header;
  return {
    kind: 'block',
    slot,
    createdAt,
    meta: rawBlockMeta(header, block.entriesCount, createdAt),
    transactions: block.transactions.map((placed) => rawTransaction({ slot, createdAt, info: placed })),
    accounts: block.accounts.map((write) => rawAccount({ slot, createdAt, write, isStartup: false })),
    entries: block.entries.map((entry) => rawEntry(entry, createdAt)),
    updatedAccountCount: block.updatedAccountCount,
  };
}

/** Encodes an update of a kind that is sent as a separate message. */
export function rawOf(update: TypedUpdate, createdAt: Uint8Array): RawUpdate {
  switch (update.kind) {
    case 'account':
      return rawAccount({ ...update, createdAt });
    case 'slot':
      return rawSlot(update, createdAt);
    case 'transaction':
      return rawTransaction({ ...update, createdAt });
    case 'blockMeta':
      return rawBlockMeta(update.header, update.entriesCount, createdAt);
    case 'entry':
      return rawEntry(update, createdAt);
    default:
      throw new RangeError(`${update.kind} is no update of its own`);
  }
}

export function tailOf(update: TypedUpdate, createdAt: Uint8Array): Uint8Array {
  if (update.kind === 'ping') return pingTail(createdAt);
  if (update.kind === 'pong') return pongTail(update.id, createdAt);
  if (update.kind !== 'block') return rawOf(update, createdAt).tail;
  const block = rawBlock(update, createdAt);
  return blockTail(block, { ...block, slices: null });
}

/** null for kinds that subscriptions do not need. */
export function decodedUpdate(message: Uint8Array): Update | null {
  const raw = readRawUpdate(message, 0);
  const isDecodable = raw?.kind === 'account' || raw?.kind === 'slot' || raw?.kind === 'transaction';
  return isDecodable ? decodeUpdate(raw) : null;
}

/** A complete message, copied to a new array. */
export const messageOf = (names: readonly string[], tail: Uint8Array): Uint8Array =>
  Uint8Array.from([...encodeNames(names), ...tail]);
