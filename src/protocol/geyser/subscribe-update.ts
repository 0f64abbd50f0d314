import { ProtobufReader } from './protobuf.ts';
import { readPingId } from './request/filters.ts';
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

/** The client must answer a `ping` with a ping. A `pong` answers a ping from the client. */
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

/** Source: geyser.proto, `SubscribeUpdate`. */
export type SubscribeUpdate = Readonly<{
  filters: readonly string[];
  /** Unix milliseconds, set by the Geyser plugin. */
  createdAt: bigint | null;
  update: Update | null;
}>;

/** Reads a `google.protobuf.Timestamp`. @returns Unix milliseconds. */
export function readTimestamp(reader: ProtobufReader): bigint {
  let [seconds, nanos] = [0n, 0];
  while (reader.next()) {
    if (reader.field === 1) seconds = reader.int64();
    else if (reader.field === 2) nanos = reader.int32();
    else reader.skipField();
  }
  return seconds * 1000n + BigInt(Math.trunc(nanos / 1_000_000));
}

function readPing(reader: ProtobufReader): Update {
  while (reader.next()) reader.skipField();
  return { kind: 'ping' };
}

const kinds: Readonly<Record<number, (reader: ProtobufReader) => Update>> = {
  2: readAccountUpdate,
  3: readSlotUpdate,
  4: readTransactionUpdate,
  5: readBlockUpdate,
  6: readPing,
  7: readBlockMetaUpdate,
  8: readEntryUpdate,
  9: (reader) => ({ kind: 'pong', id: readPingId(reader) }),
  10: readTransactionStatusUpdate,
};

/** Byte arrays are views into `bytes`. @throws InvalidProtobuf, also for version 1 transactions. */
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
