import { ADDRESS_BYTES } from '../../solana/address.ts';
import { SIGNATURE_BYTES } from '../../solana/signature.ts';
import type { Slot } from '../../solana/units.ts';
import { readSlot, readTimestamp, required } from './fields.ts';
import { InvalidProtobuf, ProtobufReader } from './protobuf.ts';
import type { RawKeys } from './raw-update.ts';
import { KEYS_MAX, readStaticKeys } from './read-raw-transaction.ts';
import { readSlotUpdate, type SlotUpdate } from './update/slot.ts';

/** The byte fields are views into the message. */
export type DeshredTransactionUpdate = Readonly<{
  kind: 'transaction';
  slot: Slot;
  signature: Uint8Array;
  isVote: boolean;
  /** `solana.storage.ConfirmedBlock.Transaction`. */
  transaction: Uint8Array;
  keys: RawKeys;
  loadedWritable: readonly Uint8Array[];
  loadedReadonly: readonly Uint8Array[];
  firstShredIndex: number;
  endShredIndex: number;
}>;

/** The client must answer a `ping` with a ping of its own. A `pong` answers a ping from the client. */
type DeshredUpdate = Readonly<DeshredTransactionUpdate | SlotUpdate | { kind: 'ping' } | { kind: 'pong' }>;

/** Source: geyser.proto, `SubscribeUpdateDeshred`. */
export type SubscribeUpdateDeshred = Readonly<{
  /** Unix milliseconds. */
  createdAt: bigint | null;
  update: DeshredUpdate | null;
}>;

const emptyInfo = () => ({
  signature: null as Uint8Array | null,
  isVote: false,
  transaction: null as Uint8Array | null,
  loadedWritable: [] as Uint8Array[],
  loadedReadonly: [] as Uint8Array[],
  firstShredIndex: 0,
  endShredIndex: 0,
});
type Info = ReturnType<typeof emptyInfo>;

function readInfo(reader: ProtobufReader): Info {
  const info = emptyInfo();
  while (reader.next()) {
    if (reader.field === 1) info.signature = reader.fixedBytes(SIGNATURE_BYTES);
    else if (reader.field === 2) info.isVote = reader.bool();
    else if (reader.field === 3) info.transaction = reader.bytes();
    else if (reader.field === 4) info.loadedWritable.push(reader.fixedBytes(ADDRESS_BYTES));
    else if (reader.field === 5) info.loadedReadonly.push(reader.fixedBytes(ADDRESS_BYTES));
    else if (reader.field === 6) info.firstShredIndex = reader.uint32();
    else if (reader.field === 7) info.endShredIndex = reader.uint32();
    else reader.skipField();
  }
  return info;
}

function readTransaction(reader: ProtobufReader, message: Uint8Array): DeshredTransactionUpdate {
  let info: Info | null = null;
  let slot = 0n as Slot;
  while (reader.next()) {
    if (reader.field === 1) info = readInfo(reader.message());
    else if (reader.field === 2) slot = readSlot(reader);
    else reader.skipField();
  }
  const { signature, transaction, ...rest } = required(info, 'a transaction');
  const bytes = required(transaction, 'the message of a transaction');
  const start = bytes.byteOffset - message.byteOffset;
  const offsets: number[] = [];
  readStaticKeys(new ProtobufReader(message, start, start + bytes.length), offsets);
  for (const key of rest.loadedWritable) offsets.push(key.byteOffset - message.byteOffset);
  for (const key of rest.loadedReadonly) offsets.push(key.byteOffset - message.byteOffset);
  if (offsets.length > KEYS_MAX) throw new InvalidProtobuf('too many keys in a transaction');
  return {
    ...{ kind: 'transaction', slot, ...rest, transaction: bytes, keys: { bytes: message, offsets } },
    signature: required(signature, 'the signature of a transaction'),
  };
}

/** Reads a message from a `SubscribeDeshred` stream. Within `transaction`, decodes only the keys. */
export function readDeshredUpdate(bytes: Uint8Array): SubscribeUpdateDeshred {
  let createdAt: bigint | null = null;
  let update: DeshredUpdate | null = null;
  const reader = new ProtobufReader(bytes);
  while (reader.next()) {
    if (reader.field === 2) update = readTransaction(reader.message(), bytes);
    else if (reader.field === 6) update = readSlotUpdate(reader.message());
    else if (reader.field === 5) createdAt = readTimestamp(reader.message());
    else {
      if (reader.field === 3) update = { kind: 'ping' };
      if (reader.field === 4) update = { kind: 'pong' };
      reader.skipField();
    }
  }
  return { createdAt, update };
}
