import {
  SubscribeUpdate,
  type SubscribeUpdateAccountInfo,
  type SubscribeUpdateBlock,
  type SubscribeUpdateBlockMeta,
  txErrDecode,
} from '@triton-one/yellowstone-grpc';
import type { BlockHeader } from '../../src/protocol/geyser/encode/raw-slot.ts';
import type { AccountWrite } from '../../src/protocol/geyser/update/account.ts';
import type { Update } from '../../src/protocol/geyser/update/decode-update.ts';
import type { EntryUpdate } from '../../src/protocol/geyser/update/entry.ts';
import { slotStatuses } from '../../src/protocol/geyser/update/slot.ts';
import type { TransactionInfo } from '../../src/protocol/geyser/update/transaction.ts';
import type { Address } from '../../src/solana/address.ts';
import { type Blockhash, blockhashFromBytes } from '../../src/solana/blockhash.ts';
import { signatureBytes } from '../../src/solana/signature.ts';
import { type BlockReward, rewardTypes } from '../../src/solana/transaction/transaction-meta.ts';
import { lamports, slot as slotOf } from '../../src/solana/units.ts';
import type { updates } from './arbitrary.ts';
import { metaFacts, type OracleMeta, oracleAccount, oracleMetaFacts, oracleTransaction } from './oracle.ts';
import { decodedUpdate } from './re-encode.ts';

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
  }
}

type BlockMetaUpdate = Readonly<{ kind: 'blockMeta'; header: BlockHeader; entriesCount: number }>;

export type BlockUpdate = Readonly<{
  kind: 'block';
  header: BlockHeader;
  entriesCount: number;
  transactions: readonly TransactionInfo[];
  updatedAccountCount: number;
  accounts: readonly AccountWrite[];
  entries: readonly EntryUpdate[];
}>;

/** Updates that Solway encodes. */
export type TypedUpdate =
  | Update
  | EntryUpdate
  | BlockMetaUpdate
  | BlockUpdate
  | Readonly<{ kind: 'ping' } | { kind: 'pong'; id: number }>;

const bigintOrNull = (value: string | undefined): bigint | null =>
  value === undefined ? null : BigInt(value);

const entryOf = ({
  slot,
  hash,
  numHashes,
  ...counts
}: SubscribeUpdateBlock['entries'][number]): EntryUpdate => ({
  ...{ kind: 'entry', slot: slotOf(BigInt(slot)), numHashes: BigInt(numHashes) },
  hash: blockhashFromBytes(hash),
  index: Number(counts.index),
  executedTransactionCount: Number(counts.executedTransactionCount),
  startingTransactionIndex: Number(counts.startingTransactionIndex),
});

const rewardOf = (reward: OracleMeta['rewards'][number]): BlockReward => ({
  pubkey: reward.pubkey as Address,
  lamports: BigInt(reward.lamports),
  postBalance: lamports(BigInt(reward.postBalance)),
  rewardType: rewardTypes[reward.rewardType - 1] ?? null,
  commission: reward.commission === '' ? null : Number(reward.commission),
});

const metaOf = (meta: SubscribeUpdateBlockMeta | SubscribeUpdateBlock) => ({
  header: {
    slot: slotOf(BigInt(meta.slot)),
    parentSlot: slotOf(BigInt(meta.parentSlot)),
    blockhash: meta.blockhash as Blockhash,
    previousBlockhash: meta.parentBlockhash as Blockhash,
    blockHeight: bigintOrNull(meta.blockHeight?.blockHeight),
    blockTime: bigintOrNull(meta.blockTime?.timestamp),
    transactions: { length: Number(meta.executedTransactionCount) },
    rewards: meta.rewards!.rewards.map(rewardOf),
    numRewardPartitions: bigintOrNull(meta.rewards!.numPartitions?.numPartitions) ?? undefined,
  },
  entriesCount: Number(meta.entriesCount),
});

const decoded = (update: Partial<SubscribeUpdate>): Update =>
  decodedUpdate(SubscribeUpdate.encode(SubscribeUpdate.fromPartial(update)).finish()) as Update;

/** Converts an update from the published codec. */
export function typedUpdate(update: Partial<SubscribeUpdate>): TypedUpdate {
  const { block, blockMeta, entry, ping, pong } = update;
  if (ping) return { kind: 'ping' };
  if (pong) return { kind: 'pong', id: pong.id };
  if (entry) return entryOf(entry);
  if (blockMeta) return { kind: 'blockMeta', ...metaOf(blockMeta) };
  if (!block) return decoded(update);
  const infoOf = (transaction: Read) => {
    const read = decoded({ transaction: { transaction, slot: '0' } });
    return (read as Extract<Update, { kind: 'transaction' }>).info;
  };
  const writeOf = (account: SubscribeUpdateAccountInfo) => {
    const read = decoded({ account: { account, slot: '0', isStartup: false } });
    return (read as Extract<Update, { kind: 'account' }>).write;
  };
  return {
    ...{ kind: 'block', ...metaOf(block), updatedAccountCount: Number(block.updatedAccountCount) },
    transactions: block.transactions.map(infoOf),
    accounts: block.accounts.map(writeOf),
    entries: block.entries.map(entryOf),
  };
}

type Read = NonNullable<SubscribeUpdate['transaction']>['transaction'];

const readErr = (err: { err: Uint8Array } | undefined): unknown =>
  err === undefined ? null : txErrDecode.decode(err.err);

const readTransactionInfo = (transaction: Read) => ({
  ...transaction,
  meta: oracleMetaFacts(transaction!.meta!),
  err: readErr(transaction!.meta!.err),
});

export function readShape(kind: keyof typeof updates, read: SubscribeUpdate): unknown {
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
