import { rawAccount } from '../../protocol/geyser/encode/raw-account.ts';
import { rawBlockMeta } from '../../protocol/geyser/encode/raw-block-meta.ts';
import { rawEntry } from '../../protocol/geyser/encode/raw-entry.ts';
import { rawSlot } from '../../protocol/geyser/encode/raw-slot.ts';
import { rawTransaction } from '../../protocol/geyser/encode/raw-transaction.ts';
import { encodeTimestamp } from '../../protocol/geyser/encode/timestamp.ts';
import type { RawUpdate } from '../../protocol/geyser/raw-update.ts';
import { decodeSubscribeUpdate } from '../../protocol/geyser/subscribe-update.ts';
import type { BlockCounts } from './teller.ts';

/** Reads one message of a stream. @throws InvalidProtobuf */
export function readRawUpdate(
  bytes: Uint8Array,
  receivedAtMs: number,
): RawUpdate | BlockCounts | { kind: 'ping' } | { kind: 'pong'; id: number } | null {
  const { update, createdAt: at } = decodeSubscribeUpdate(bytes);
  const createdAt = encodeTimestamp(at ?? BigInt(receivedAtMs));
  switch (update?.kind) {
    case undefined:
    case 'transactionStatus':
      return null;
    case 'account':
      return rawAccount({ ...update, createdAt });
    case 'transaction':
      return rawTransaction({ ...update, createdAt });
    case 'entry':
      return rawEntry(update, createdAt);
    case 'blockMeta':
      return rawBlockMeta(update, createdAt, null);
    case 'slot':
      return rawSlot(update, createdAt);
    case 'block':
      return { kind: 'blockCounts', slot: update.slot, updatedAccountCount: update.updatedAccountCount };
    default:
      return update ?? null;
  }
}
