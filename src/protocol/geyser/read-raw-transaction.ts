import { ADDRESS_BYTES } from '../../solana/address.ts';
import { SIGNATURE_BYTES } from '../../solana/signature.ts';
import { readSlot, required } from './fields.ts';
import { InvalidProtobuf, ProtobufReader } from './protobuf.ts';
import type { RawTransaction } from './raw-update.ts';

/** Maximum number of static and loaded keys, because an account index is one byte. */
export const KEYS_MAX = 256;

const emptyInfo = (bytes: Uint8Array) => ({
  bytes,
  signature: null as Uint8Array | null,
  isVote: false,
  index: 0,
  meta: null as Uint8Array | null,
  err: null as Uint8Array | null,
  keys: [] as number[],
  writable: [] as number[],
  readonly: [] as number[],
});
type Info = ReturnType<typeof emptyInfo>;

/** In all versions of `ConfirmedBlock.Transaction`, the message is field 2, and the keys are field 2 of the message. */
export function readStaticKeys(transaction: ProtobufReader, keys: number[]): void {
  while (transaction.next()) {
    if (transaction.field !== 2) {
      transaction.skipField();
      continue;
    }
    const message = transaction.message();
    while (message.next()) {
      if (message.field === 2) keys.push(message.fixedSpan(ADDRESS_BYTES));
      else message.skipField();
    }
  }
}

function readInfo(message: Uint8Array, start: number, end: number): Info {
  const info = emptyInfo(message.subarray(start, end));
  const reader = new ProtobufReader(message, start, end);
  while (reader.next()) {
    if (reader.field === 1) info.signature = reader.fixedBytes(SIGNATURE_BYTES);
    else if (reader.field === 2) info.isVote = reader.bool();
    else if (reader.field === 3) readStaticKeys(reader.message(), info.keys);
    else if (reader.field === 4) {
      const metaStart = reader.span();
      info.meta = message.subarray(metaStart, reader.offset);
      const meta = new ProtobufReader(message, metaStart, reader.offset);
      while (meta.next()) {
        if (meta.field === 1) info.err = meta.bytes();
        else if (meta.field === 12) info.writable.push(meta.fixedSpan(ADDRESS_BYTES));
        else if (meta.field === 13) info.readonly.push(meta.fixedSpan(ADDRESS_BYTES));
        else meta.skipField();
      }
    } else if (reader.field === 5) info.index = reader.count();
    else reader.skipField();
  }
  return info;
}

/** @param message - the complete message; key offsets are relative to its start. */
export function readRawTransaction(
  reader: ProtobufReader,
  message: Uint8Array,
): Omit<RawTransaction, 'tail' | 'createdAt'> {
  let info: Info | null = null;
  let slot = 0n as RawTransaction['slot'];
  while (reader.next()) {
    if (reader.field === 1) {
      const start = reader.span();
      info = readInfo(message, start, reader.offset);
    } else if (reader.field === 2) slot = readSlot(reader);
    else reader.skipField();
  }
  const { bytes, signature, isVote, index, err, keys, writable, readonly, meta } = required(
    info,
    'a transaction',
  );
  for (const offset of writable) keys.push(offset);
  for (const offset of readonly) keys.push(offset);
  if (keys.length > KEYS_MAX) throw new InvalidProtobuf('too many keys in a transaction');
  return {
    kind: 'transaction',
    slot,
    info: bytes,
    signature: required(signature, 'a signature'),
    isVote,
    index,
    err,
    keys: { bytes: message, offsets: keys },
    meta,
  };
}
