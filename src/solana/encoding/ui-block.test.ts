import { describe, expect, it } from 'vitest';
import { writeJson } from '../../base/json.ts';
import { addressFromBytes } from '../address.ts';
import type { Block, ExecutedTransaction } from '../block.ts';
import { blockhashFromBytes } from '../blockhash.ts';
import type { MessageVersion } from '../message/message.ts';
import { signatureFromBytes } from '../signature.ts';
import { lamports, slot } from '../units.ts';
import { type BlockView, encodeBlock } from './ui-block.ts';

const key = (n: number) => addressFromBytes(new Uint8Array(32).fill(n));
const hash = (n: number) => blockhashFromBytes(new Uint8Array(32).fill(n));
const signature = (n: number) => signatureFromBytes(new Uint8Array(64).fill(n));

const executed = (n: number, version: MessageVersion = 'legacy'): ExecutedTransaction => ({
  transaction: {
    signatures: [signature(n)],
    message: {
      version,
      header: { numRequiredSignatures: 1, numReadonlySignedAccounts: 0, numReadonlyUnsignedAccounts: 0 },
      accountKeys: [key(n)],
      recentBlockhash: hash(9),
      instructions: [],
      addressTableLookups: [],
    },
    messageBytes: new Uint8Array(),
    wire: Uint8Array.of(n),
  },
  meta: {
    err: null,
    fee: lamports(5000),
    preBalances: [],
    postBalances: [],
    innerInstructions: null,
    logMessages: null,
    preTokenBalances: null,
    postTokenBalances: null,
    rewards: null,
    loadedAddresses: { writable: [], readonly: [] },
    returnData: null,
    computeUnitsConsumed: null,
    costUnits: null,
  },
});

const block: Block = {
  slot: slot(7),
  parentSlot: slot(5),
  blockhash: hash(2),
  previousBlockhash: hash(1),
  blockHeight: null,
  blockTime: null,
  transactions: [executed(3), executed(4)],
  rewards: [
    { pubkey: key(5), lamports: -3n, postBalance: lamports(10), rewardType: 'Voting', commission: 7 },
  ],
};

const view: BlockView = { encoding: 'base64', details: 'full', rewards: true, maxVersion: undefined };

function shown(changes: Partial<BlockView>, of: Block = block): string {
  const encoded = encodeBlock(of, { ...view, ...changes });
  return 'json' in encoded ? writeJson(encoded.json) : `unsupported ${encoded.unsupportedVersion}`;
}

const head = `"blockHeight":null,"blockTime":null,"blockhash":"${hash(2)}"`;
const parents = `"parentSlot":5,"previousBlockhash":"${hash(1)}"`;
const rewards =
  `"rewards":[{"commission":7,"lamports":-3,"postBalance":10,` +
  `"pubkey":"${key(5)}","rewardType":"Voting"}]`;

describe('encodeBlock', () => {
  it('renders unrecorded height and time as null', () => {
    expect(shown({ details: 'none' })).toBe(`{${head},${parents},${rewards}}`);
  });

  it('renders signatures only with details signatures', () => {
    expect(shown({ details: 'signatures', rewards: false })).toBe(
      `{${head},${parents},"signatures":["${signature(3)}","${signature(4)}"]}`,
    );
  });

  it.each(['full', 'accounts'] as const)('keeps the transaction order with details %s', (details) => {
    const { transactions, ...rest } = JSON.parse(shown({ details }));
    expect(rest).not.toHaveProperty('signatures');
    expect(transactions).toHaveLength(2);
    const first = details === 'full' ? ['Aw==', 'base64'] : { signatures: [signature(3)] };
    expect(transactions[0].transaction).toMatchObject(first);
  });

  it('includes known reward partitions', () => {
    expect(shown({ details: 'none', rewards: false }, { ...block, numRewardPartitions: 4n })).toBe(
      `{${head},"numRewardPartitions":4,${parents}}`,
    );
  });

  it('rejects an unsupported transaction version', () => {
    const versioned = { ...block, transactions: [executed(3), executed(4, 0)] };
    expect(shown({}, versioned)).toBe('unsupported 0');
    expect(shown({ maxVersion: 0 }, versioned)).toContain('"version":0');
    expect(shown({ details: 'signatures' }, versioned)).toContain('"signatures"');
  });
});
