import { ProtobufReader } from './protobuf.ts';
import { type AccountUpdate, readAccountUpdate } from './update/account.ts';
import {
  type BlockMetaUpdate,
  type BlockUpdate,
  readBlockMetaUpdate,
  readBlockUpdate,
} from './update/block.ts';
import { type EntryUpdate, readEntryUpdate } from './update/entry.ts';
import { readSlotUpdate, type SlotUpdate } from './update/slot.ts';
import {
  readTransactionStatusUpdate,
  readTransactionUpdate,
  type TransactionStatusUpdate,
  type TransactionUpdate,
} from './update/transaction.ts';

/** What a server tells. `ping` wants a ping back; `pong` answers one. */
export type Update = Readonly<
  | AccountUpdate
  | SlotUpdate
  | TransactionUpdate
  | TransactionStatusUpdate
  | BlockUpdate
  | BlockMetaUpdate
  | EntryUpdate
  | { kind: 'ping' }
  | { kind: 'pong'; id: number }
>;

/** One message of the stream. Source: geyser.proto, `SubscribeUpdate`. */
export type SubscribeUpdate = Readonly<{
  /** Names of the filters that wanted it. */
  filters: readonly string[];
  /** Unix milliseconds, when the plugin had it from its node. */
  createdAt: bigint | null;
  /** null for a kind that is not known. */
  update: Update | null;
}>;

/** Reads `google.protobuf.Timestamp` as milliseconds. */
export function readTimestamp(reader: ProtobufReader): bigint {
  let [seconds, nanos] = [0n, 0];
  while (reader.next()) {
    if (reader.field === 1) seconds = reader.int64();
    else if (reader.field === 2) nanos = reader.int32();
    else reader.skipField();
  }
  return seconds * 1000n + BigInt(Math.trunc(nanos / 1_000_000));
}

function readPong(reader: ProtobufReader): Update {
  let id = 0;
  while (reader.next()) {
    if (reader.field === 1) id = reader.int32();
    else reader.skipField();
  }
  return { kind: 'pong', id };
}

function readPing(reader: ProtobufReader): Update {
  while (reader.next()) reader.skipField();
  return { kind: 'ping' };
}

/** By field number, the kinds of an update. */
const kinds: Readonly<Record<number, (reader: ProtobufReader) => Update>> = {
  2: readAccountUpdate,
  3: readSlotUpdate,
  4: readTransactionUpdate,
  5: readBlockUpdate,
  6: readPing,
  7: readBlockMetaUpdate,
  8: readEntryUpdate,
  9: readPong,
  10: readTransactionStatusUpdate,
};

/**
 * Reads one message of a `Subscribe` stream. Bytes in the result are views into `bytes`.
 * @throws InvalidProtobuf when it is none, or when it holds what this reader does not know, such as a transaction
 * of version 1.
 */
export function decodeSubscribeUpdate(bytes: Uint8Array): SubscribeUpdate {
  const filters: string[] = [];
  let createdAt: bigint | null = null;
  let update: Update | null = null;
  const reader = new ProtobufReader(bytes);
  while (reader.next()) {
    const read = kinds[reader.field];
    if (read !== undefined) update = read(reader.message());
    else if (reader.field === 1) filters.push(reader.string());
    else if (reader.field === 11) createdAt = readTimestamp(reader.message());
    else reader.skipField();
  }
  return { filters, createdAt, update };
}
