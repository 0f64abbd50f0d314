import { ProtobufWriter } from '../protobuf-writer.ts';
import type { RawTransaction } from '../raw-update.ts';

/** Used again by each call: none of them can be interrupted. */
const writer = new ProtobufWriter();

/** A `SubscribeUpdate` that tells of a transaction only whether it succeeded. */
export function transactionStatusTail(transaction: RawTransaction): Uint8Array {
  writer.clear();
  const start = writer.open(10);
  writer.uint64OrNone(1, transaction.slot);
  writer.bytes(2, transaction.signature);
  writer.boolOrNone(3, transaction.isVote);
  writer.uint32OrNone(4, transaction.index);
  if (transaction.err !== null) writer.bytes(5, transaction.err);
  writer.close(start);
  return writer.bytes(11, transaction.createdAt).take();
}
