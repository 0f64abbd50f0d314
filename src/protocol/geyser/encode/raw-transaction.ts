import { SIGNATURE_BYTES, signatureBytes } from '../../../solana/signature.ts';
import { VERSION_1_PREFIX } from '../../../solana/transaction/wire-transaction.ts';
import { ProtobufWriter } from '../protobuf-writer.ts';
import type { RawTransaction } from '../raw-update.ts';
import { writeMeta } from '../storage/encode-meta.ts';
import { closeWithOffsets, writeStorageTransaction } from '../storage/encode-transaction.ts';
import type { TransactionInfo } from '../update/transaction.ts';

/** Typical size of a transaction with meta. Its length prefix is two bytes long, like that of most transactions. */
const TYPICAL_BYTES = 2_000;

/** Shared by all calls. This is safe because they are synchronous. */
const writer = new ProtobufWriter(2 * TYPICAL_BYTES);

type Offsets = { signature: number; meta: number; metaEnd: number; readonly keys: number[] };

function signatureOf({ signature, executed }: TransactionInfo): Uint8Array {
  const { signatures, wire } = executed.transaction;
  // Avoids base58 decoding: before version 1, the signature follows the one-byte signature count.
  const isAtStart = signatures[0] === signature && wire[0] !== VERSION_1_PREFIX;
  return isAtStart ? wire.subarray(1, 1 + SIGNATURE_BYTES) : signatureBytes(signature);
}

function writeInfo(info: TransactionInfo): Offsets {
  const { transaction, meta } = info.executed;
  const offsets: Offsets = { signature: 0, meta: 0, metaEnd: 0, keys: [] };
  const { keys } = offsets;
  offsets.signature = writer.bytes(1, signatureOf(info)).length - SIGNATURE_BYTES;
  writer.trueBool(2, info.isVote);
  const wireStart = writer.open(3, transaction.wire.length);
  writeStorageTransaction(writer, transaction.wire, keys);
  closeWithOffsets(writer, wireStart, keys, 0);
  const [metaStart, loaded] = [writer.open(4, TYPICAL_BYTES), keys.length];
  writeMeta(writer, meta, keys);
  offsets.meta = closeWithOffsets(writer, metaStart, keys, loaded);
  offsets.metaEnd = writer.length;
  writer.nonzeroUint32(5, info.index);
  return offsets;
}

/** The byte fields of the result are views into its `tail`. */
export function rawTransaction({
  slot,
  createdAt,
  info,
}: Pick<RawTransaction, 'slot' | 'createdAt'> & { info: TransactionInfo }): RawTransaction {
  writer.clear();
  const update = writer.open(4, TYPICAL_BYTES);
  const opened = writer.open(1, TYPICAL_BYTES);
  const offsets = writeInfo(info);
  const length = writer.length - opened;
  const closed = closeWithOffsets(writer, opened, offsets.keys, 0);
  writer.nonzeroUint64(2, slot);
  const moved = closeWithOffsets(writer, update, offsets.keys, 0) - update + closed - opened;
  const tail = writer.bytes(11, createdAt).take();
  const meta = tail.subarray(offsets.meta + moved, offsets.metaEnd + moved);
  return {
    kind: 'transaction',
    slot,
    tail,
    createdAt,
    info: tail.subarray(opened + moved, opened + moved + length),
    signature: tail.subarray(offsets.signature + moved, offsets.signature + moved + SIGNATURE_BYTES),
    isVote: info.isVote,
    index: info.index,
    // A view into the meta, whose first field is the error, if any.
    err: meta[0] === 0x0a ? meta.subarray(2, 2 + (meta[1] as number)) : null,
    keys: { bytes: tail, offsets: offsets.keys },
    meta,
  };
}

export function transactionStatusTail(transaction: RawTransaction): Uint8Array {
  writer.clear();
  const start = writer.open(10);
  writer.nonzeroUint64(1, transaction.slot);
  writer.bytes(2, transaction.signature);
  writer.trueBool(3, transaction.isVote);
  writer.nonzeroUint32(4, transaction.index);
  if (transaction.err !== null) writer.bytes(5, transaction.err);
  writer.close(start);
  return writer.bytes(11, transaction.createdAt).take();
}
