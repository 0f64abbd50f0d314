import { MalformedJson } from '../../src/solana/encoding/read-json.ts';
import { readBlock } from '../../src/solana/encoding/read-ui-block.ts';
import { slot } from '../../src/solana/units.ts';

export const from = 'nodes';
export const covers = [
  'solana/encoding/read-json.ts',
  'solana/encoding/read-ui-block.ts',
  'solana/encoding/read-ui-meta.ts',
];

const KEY = 'So11111111111111111111111111111111111111112';
const META = {
  err: { InstructionError: [0, { Custom: 1 }] },
  fee: 5000,
  preBalances: [1],
  postBalances: [1],
  innerInstructions: [
    { index: 0, instructions: [{ programIdIndex: 1, accounts: [0], data: '3Bxs', stackHeight: 2 }] },
  ],
  logMessages: ['a'],
  preTokenBalances: [
    { accountIndex: 0, mint: KEY, owner: KEY, programId: KEY, uiTokenAmount: { amount: '1', decimals: 2 } },
  ],
  postTokenBalances: [],
  rewards: null,
  loadedAddresses: { writable: [KEY], readonly: [] },
  returnData: { programId: KEY, data: ['AA==', 'base64'] },
  computeUnitsConsumed: 150,
};
const WIRE = Buffer.concat([
  Buffer.from([1]),
  Buffer.alloc(64, 7),
  Buffer.from([1, 0, 0, 1]),
  Buffer.alloc(64, 3),
  Buffer.from([0]),
]).toString('base64');

export const seeds = [
  {
    blockHeight: 5,
    blockTime: 1_700_000_000,
    blockhash: KEY,
    parentSlot: 6,
    previousBlockhash: KEY,
    rewards: [{ commission: null, lamports: -5, postBalance: 1, pubkey: KEY, rewardType: 'Fee' }],
    transactions: [{ meta: META, transaction: [WIRE, 'base64'], version: 'legacy' }],
  },
].map((block) => Buffer.from(JSON.stringify(block)));

/** Whatever a node answers: a block, or one of the two errors. */
export function fuzz(bytes: Uint8Array): boolean {
  try {
    readBlock(Buffer.from(bytes), slot(7));
    return true;
  } catch (thrown) {
    if (thrown instanceof MalformedJson || thrown instanceof SyntaxError) return false;
    throw thrown;
  }
}
