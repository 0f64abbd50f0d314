import { type SubscribeUpdate, txErrDecode } from '@triton-one/yellowstone-grpc';
import type { Update } from '../../src/protocol/geyser/subscribe-update.ts';
import type { BlockHeader } from '../../src/protocol/geyser/update/block.ts';
import type { EntryUpdate } from '../../src/protocol/geyser/update/entry.ts';
import { slotStatuses } from '../../src/protocol/geyser/update/slot.ts';
import type { TransactionInfo } from '../../src/protocol/geyser/update/transaction.ts';
import { blockhashBytes } from '../../src/solana/blockhash.ts';
import { signatureBytes } from '../../src/solana/signature.ts';
import { metaFacts, oracleAccount, oracleMetaFacts, oracleReward, oracleTransaction } from './oracle.ts';

/** Converts updates decoded by Solway and by the published codec to a common shape. */

const plain = (bytes: Uint8Array): Uint8Array => Uint8Array.from(bytes);
const textOrUndefined = (value: bigint | null): string | undefined =>
  value === null ? undefined : String(value);

const transactionInfo = ({ signature, isVote, executed, index }: TransactionInfo) => ({
  signature: plain(signatureBytes(signature)),
  isVote,
  transaction: oracleTransaction(executed.transaction),
  meta: metaFacts(executed.meta),
  err: executed.meta.err,
  index: String(index),
});

const entry = ({ kind: _kind, slot, hash, ...rest }: EntryUpdate) => ({
  slot: String(slot),
  index: String(rest.index),
  numHashes: String(rest.numHashes),
  hash: plain(blockhashBytes(hash)),
  executedTransactionCount: String(rest.executedTransactionCount),
  startingTransactionIndex: String(rest.startingTransactionIndex),
});

const header = (block: BlockHeader) => ({
  slot: String(block.slot),
  blockhash: block.blockhash,
  rewards: {
    rewards: block.rewards.map(oracleReward),
    numPartitions:
      block.numRewardPartitions === null ? undefined : { numPartitions: String(block.numRewardPartitions) },
  },
  blockTime: block.blockTime === null ? undefined : { timestamp: String(block.blockTime) },
  blockHeight: block.blockHeight === null ? undefined : { blockHeight: String(block.blockHeight) },
  parentSlot: String(block.parentSlot),
  parentBlockhash: block.parentBlockhash,
  executedTransactionCount: String(block.executedTransactionCount),
  entriesCount: String(block.entriesCount),
});

export function shapeOf(update: Update): unknown {
  switch (update.kind) {
    case 'account':
      return {
        account: oracleAccount(update.write),
        slot: String(update.slot),
        isStartup: update.isStartup,
      };
    case 'slot':
      return {
        slot: String(update.slot),
        parent: textOrUndefined(update.parent),
        status: slotStatuses.indexOf(update.status),
        deadError: update.deadError ?? undefined,
      };
    case 'transaction':
      return { transaction: transactionInfo(update.info), slot: String(update.slot) };
    case 'transactionStatus':
      return {
        ...update,
        slot: String(update.slot),
        signature: plain(signatureBytes(update.signature)),
        index: String(update.index),
      };
    case 'block':
      return {
        ...header(update),
        transactions: update.transactions.map(transactionInfo),
        updatedAccountCount: String(update.updatedAccountCount),
        accounts: update.accounts.map(oracleAccount),
        entries: update.entries.map(entry),
      };
    case 'blockMeta':
      return header(update);
    case 'entry':
      return entry(update);
    case 'ping':
      return {};
    case 'pong':
      return { id: update.id };
  }
}

type Read = NonNullable<SubscribeUpdate['transaction']>['transaction'];

const readErr = (err: { err: Uint8Array } | undefined): unknown =>
  err === undefined ? null : txErrDecode.decode(err.err);

const readTransactionInfo = (transaction: Read) => ({
  ...transaction,
  meta: oracleMetaFacts(transaction!.meta!),
  err: readErr(transaction!.meta!.err),
});

export function readShape(kind: Update['kind'], read: SubscribeUpdate): unknown {
  switch (kind) {
    case 'transaction':
      return {
        transaction: readTransactionInfo(read.transaction!.transaction),
        slot: read.transaction!.slot,
      };
    case 'transactionStatus':
      return { kind, ...read.transactionStatus, err: readErr(read.transactionStatus!.err) };
    case 'block':
      return { ...read.block, transactions: read.block!.transactions.map(readTransactionInfo) };
    default:
      return read[kind];
  }
}
