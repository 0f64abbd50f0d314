import type { ExecutedTransaction } from '../../../solana/block.ts';
import type { Signature } from '../../../solana/signature.ts';
import type { Transaction } from '../../../solana/transaction/transaction.ts';
import type { TransactionError } from '../../../solana/transaction/transaction-error.ts';
import type { TransactionMeta } from '../../../solana/transaction/transaction-meta.ts';
import { type Slot, slot as slotOf } from '../../../solana/units.ts';
import { readSignature, readSlot, required } from '../fields.ts';
import type { ProtobufReader } from '../protobuf.ts';
import { readMeta, readTransactionError } from '../storage/meta.ts';
import { readTransaction } from '../storage/transaction.ts';

/** Source: geyser.proto, `SubscribeUpdateTransactionInfo`. */
export type TransactionInfo = Readonly<{
  signature: Signature;
  isVote: boolean;
  executed: ExecutedTransaction;
  index: number;
}>;

export type TransactionUpdate = Readonly<{ kind: 'transaction'; slot: Slot; info: TransactionInfo }>;

export type TransactionStatusUpdate = Readonly<{
  kind: 'transactionStatus';
  slot: Slot;
  signature: Signature;
  isVote: boolean;
  index: number;
  err: TransactionError | null;
}>;

export function readTransactionInfo(reader: ProtobufReader): TransactionInfo {
  let signature: Signature | null = null;
  let [isVote, index] = [false, 0];
  let transaction: Transaction | null = null;
  let meta: TransactionMeta | null = null;
  while (reader.next()) {
    if (reader.field === 1) signature = readSignature(reader);
    else if (reader.field === 2) isVote = reader.bool();
    else if (reader.field === 3) transaction = readTransaction(reader.message());
    else if (reader.field === 4) meta = readMeta(reader.message());
    else if (reader.field === 5) index = reader.count();
    else reader.skipField();
  }
  return {
    signature: required(signature, 'a signature'),
    isVote,
    executed: {
      transaction: required(transaction, 'a transaction'),
      meta: required(meta, 'the meta of a transaction'),
    },
    index,
  };
}

export function readTransactionUpdate(reader: ProtobufReader): TransactionUpdate {
  let info: TransactionInfo | null = null;
  let slot = slotOf(0);
  while (reader.next()) {
    if (reader.field === 1) info = readTransactionInfo(reader.message());
    else if (reader.field === 2) slot = readSlot(reader);
    else reader.skipField();
  }
  return { kind: 'transaction', slot, info: required(info, 'a transaction') };
}

export function readTransactionStatusUpdate(reader: ProtobufReader): TransactionStatusUpdate {
  let slot = slotOf(0);
  let signature: Signature | null = null;
  let [isVote, index] = [false, 0];
  let err: TransactionError | null = null;
  while (reader.next()) {
    if (reader.field === 1) slot = readSlot(reader);
    else if (reader.field === 2) signature = readSignature(reader);
    else if (reader.field === 3) isVote = reader.bool();
    else if (reader.field === 4) index = reader.count();
    else if (reader.field === 5) err = readTransactionError(reader);
    else reader.skipField();
  }
  return {
    kind: 'transactionStatus',
    slot,
    signature: required(signature, 'a signature'),
    isVote,
    index,
    err,
  };
}
