import { describe, expect, it } from 'vitest';
import { writeJson } from '../../src/base/json.ts';
import { verifyTransaction } from '../../src/solana/ed25519.ts';
import { readBlock } from '../../src/solana/encoding/read-ui-block.ts';
import { encodeBlock } from '../../src/solana/encoding/ui-block.ts';
import { encodeMessage } from '../../src/solana/message/message.ts';
import { signatureBytes } from '../../src/solana/signature.ts';
import { encodeTransaction } from '../../src/solana/transaction/encode-transaction.ts';
import { decodeTransactionError } from '../../src/solana/transaction/transaction-error.ts';
import { slot } from '../../src/solana/units.ts';
import {
  ConfirmedBlock,
  metaFacts,
  oracleMetaFacts,
  oracleReward,
  oracleTransaction,
} from '../geyser/oracle.ts';
import { decodeConfirmedBlock } from './confirmed-block.ts';
import { kitValues, ourValues } from './kit-values.ts';
import { blockFiles, hasBlocks, readBlockFile } from './recorded-block.ts';

const recorded = new Map(
  (hasBlocks ? blockFiles : []).map((file) => {
    const bytes = readBlockFile(file);
    const ours = decodeConfirmedBlock(bytes, slot(Number.parseInt(file, 10)));
    return [file as string, { ours, theirs: ConfirmedBlock.decode(bytes) }] as const;
  }),
);

/** Transactions, failures and rewards. */
const counts: readonly (readonly [string, number, number, number])[] = [
  ['18144001.bincode', 89, 4, 0],
  ['43200000.bincode', 208, 3, 0],
  ['64800004.bincode', 11, 5, 10_185],
];

describe.skipIf(!hasBlocks)('recorded blocks (../shared/data, blocks)', () => {
  it.each(counts)('%s has the known counts', (file, transactions, failed, rewards) => {
    const { ours } = recorded.get(file)!;
    expect(ours.transactions).toHaveLength(transactions);
    expect(ours.transactions.filter(({ meta }) => meta.err !== null)).toHaveLength(failed);
    expect(ours.rewards).toHaveLength(rewards);
    expect(ours.slot).toBe(BigInt(Number.parseInt(file, 10)));
  });

  it.each(blockFiles)('%s matches the published codec in header and rewards', (file) => {
    const { ours, theirs } = recorded.get(file)!;
    expect([ours.blockhash, ours.previousBlockhash]).toEqual([theirs.blockhash, theirs.previousBlockhash]);
    expect(String(ours.parentSlot)).toBe(theirs.parentSlot);
    expect(ours.blockTime === null ? undefined : String(ours.blockTime)).toBe(theirs.blockTime?.timestamp);
    expect(ours.blockHeight === null ? undefined : String(ours.blockHeight)).toBe(
      theirs.blockHeight?.blockHeight,
    );
    expect(ours.numRewardPartitions).toBe(theirs.numPartitions?.numPartitions);
    expect(ours.rewards.map(oracleReward)).toEqual(theirs.rewards);
  });

  it.each(blockFiles)('%s matches the published codec in transactions and meta', (file) => {
    const { ours, theirs } = recorded.get(file)!;
    ours.transactions.forEach(({ transaction, meta }, index) => {
      const their = theirs.transactions[index]!;
      expect(oracleTransaction(transaction)).toEqual(their.transaction);
      expect(metaFacts(meta)).toEqual(oracleMetaFacts(their.meta!));
      const err = their.meta!.err;
      expect(meta.err).toEqual(err === undefined ? null : decodeTransactionError(err.err));
    });
  });

  it.each(blockFiles)('%s has transactions that kit decodes equally', (file) => {
    for (const { transaction } of recorded.get(file)!.ours.transactions) {
      const { signatures, message, wire } = transaction;
      const written = encodeTransaction(signatures.map(signatureBytes), encodeMessage(message));
      expect(Buffer.from(written).equals(wire)).toBe(true);
      expect(ourValues(transaction)).toEqual(kitValues(written));
    }
  });

  it.each(blockFiles)('%s round-trips through JSON', (file) => {
    const { ours } = recorded.get(file)!;
    const shown = encodeBlock(ours, { encoding: 'base64', details: 'full', rewards: true, maxVersion: 0 });
    if ('unsupportedVersion' in shown) throw new Error('refused');
    const read = readBlock(Buffer.from(writeJson(shown.json)), ours.slot);
    expect(read.undecodable).toBe(0);
    read.block.transactions.forEach(({ transaction, meta }, index) => {
      const { transaction: before, meta: metaBefore } = ours.transactions[index]!;
      expect(ourValues(transaction)).toEqual(ourValues(before));
      expect(metaFacts(meta)).toEqual(metaFacts(metaBefore));
      expect(meta.err).toEqual(metaBefore.err);
    });
    const { transactions: _read, ...header } = read.block;
    const { transactions, ...headerBefore } = ours;
    expect(header).toEqual(headerBefore);
    expect(read.block.transactions).toHaveLength(transactions.length);
  });

  it.each(blockFiles)('%s has valid signatures', (file) => {
    const { transactions } = recorded.get(file)!.ours;
    expect(transactions.filter(({ transaction }) => !verifyTransaction(transaction))).toEqual([]);
  });
});
