import { ProtobufWriter } from '../../../protocol/geyser/protobuf-writer.ts';
import type { RawAccount, RawBlock, RawTransaction } from '../../../protocol/geyser/raw-update.ts';
import type { DataSlice } from '../../../protocol/geyser/subscribe-request.ts';
import type { ChosenOfBlock } from '../filters/block-choice.ts';

const CREATED_AT = 11;

/** `SubscribeUpdateTransactionStatus` of a transaction. */
export function transactionStatusTail(transaction: RawTransaction): Uint8Array {
  const { slot, signature, isVote, index, err, createdAt } = transaction;
  const status = new ProtobufWriter();
  if (slot > 0n) status.uint64(1, slot);
  status.bytes(2, signature);
  if (isVote) status.bool(3, true);
  if (index > 0) status.uint64(4, BigInt(index));
  if (err !== null) status.bytes(5, err);
  return new ProtobufWriter().message(10, status).bytes(CREATED_AT, createdAt).finish();
}

export function slicedAccountTail(account: RawAccount, _slices: readonly DataSlice[]): Uint8Array {
  return account.tail;
}

export function blockTail(block: RawBlock, _chosen: ChosenOfBlock): Uint8Array {
  return block.meta.tail;
}
