import { ProtobufReader } from './protobuf.ts';
import { type AccountUpdate, readAccountUpdate } from './update/account.ts';
import { readSlotUpdate, type SlotUpdate } from './update/slot.ts';
import { readTransactionUpdate, type TransactionUpdate } from './update/transaction.ts';

export type Update = AccountUpdate | SlotUpdate | TransactionUpdate;

/** Source: geyser.proto, `SubscribeUpdate`. */
type SubscribeUpdate = Readonly<{
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

/**
 * Decodes the update of an account, a slot or a transaction; for other kinds, `update` is null. Byte arrays are views
 * into `bytes`. @throws InvalidProtobuf, also for version 1 transactions.
 */
export function decodeSubscribeUpdate(bytes: Uint8Array): SubscribeUpdate {
  let createdAt: bigint | null = null;
  let update: Update | null = null;
  const reader = new ProtobufReader(bytes);
  while (reader.next()) {
    if (reader.field === 2) update = readAccountUpdate(reader.message());
    else if (reader.field === 3) update = readSlotUpdate(reader.message());
    else if (reader.field === 4) update = readTransactionUpdate(reader.message());
    else if (reader.field === 11) createdAt = readTimestamp(reader.message());
    else reader.skipField();
  }
  return { createdAt, update };
}
