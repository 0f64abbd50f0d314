import { describe, expect, it } from 'vitest';
import { executed, hash, key } from '../../../test/streams/ledger-script.ts';
import { writeJson } from '../../base/json.ts';
import type { Block, ExecutedTransaction } from '../block.ts';
import { encodeMessage } from '../message/message.ts';
import { compileMessage } from '../transaction/compile-message.ts';
import { decodeTransaction } from '../transaction/decode-transaction.ts';
import { encodeTransaction } from '../transaction/encode-transaction.ts';
import { lamports, slot } from '../units.ts';
import { MalformedJson } from './read-json.ts';
import { type DecodedBlock, readBlockSteps } from './read-ui-block.ts';
import { encodeBlock } from './ui-block.ts';

function executedIn(n: number): ExecutedTransaction {
  const message = encodeMessage(
    compileMessage({ feePayer: key(n), instructions: [], recentBlockhash: hash(9) }),
  );
  const decoded = decodeTransaction(encodeTransaction([new Uint8Array(64).fill(n)], message));
  if ('fault' in decoded) throw new Error(decoded.fault);
  const balances = { preBalances: [lamports(2n ** 63n + 1n)], postBalances: [lamports(1)] };
  const meta = { ...balances, logMessages: ['a line with "quotes" and ☀'], costUnits: 1000n };
  return { ...executed({ meta }), transaction: decoded.transaction };
}

const block: Block = {
  slot: slot(7),
  parentSlot: slot(5),
  blockhash: hash(2),
  previousBlockhash: hash(1),
  blockHeight: 18_446_744_073_709_551_615n,
  blockTime: -1n,
  transactions: [executedIn(3), executedIn(4)],
  rewards: [
    { pubkey: key(5), lamports: -3n, postBalance: lamports(10), rewardType: 'Voting', commission: 7 },
  ],
  numRewardPartitions: 4n,
};

const shown = (value: Block): string => {
  const view = { encoding: 'base64', details: 'full', rewards: true, maxVersion: 0 } as const;
  const encoded = encodeBlock(value, view);
  if ('unsupportedVersion' in encoded) throw new Error('refused');
  return writeJson(encoded.json);
};

function readBlock(bytes: Buffer): DecodedBlock {
  const reading = readBlockSteps(bytes, slot(7));
  for (;;) {
    const step = reading.next();
    if (step.done) return step.value;
  }
}

describe('a block as JSON', () => {
  it('decodes the output of encodeBlock', () => {
    const { block: read, undecodable } = readBlock(Buffer.from(shown(block)));
    expect(undecodable).toBe(0);
    expect(shown(read)).toBe(shown(block));
    expect(read.blockHeight).toBe(block.blockHeight);
    expect(read.transactions[0]?.transaction.message).toEqual(block.transactions[0]?.transaction.message);
    expect(read.transactions[0]?.meta.preBalances).toEqual([2n ** 63n + 1n]);
  });

  it('skips and counts transactions of unknown versions', () => {
    const wire = Buffer.from(block.transactions[0]!.transaction.wire).toString('base64');
    const newer = Buffer.from([0x81, 1, 2, 3]).toString('base64');
    const { block: read, undecodable } = readBlock(Buffer.from(shown(block).replace(wire, newer)));
    expect(undecodable).toBe(1);
    expect(read.transactions.map(({ transaction }) => transaction.signatures[0])).toEqual([
      block.transactions[1]?.transaction.signatures[0],
    ]);
  });

  it.each(['null', '{}', '[]', '{"transactions":[', shown(block).slice(0, -2)])('rejects %.30s', (text) => {
    expect(() => readBlock(Buffer.from(text))).toThrow(MalformedJson);
  });
});
