import { faucetTransfer } from '../../packages/localnet/src/bank/faucet.ts';
import {
  decodeBlock,
  decodeChanges,
  decodeHeader,
  decodeRecord,
  encodeRecord,
} from '../../packages/localnet/src/history/record-codec.ts';
import { CorruptRecord } from '../../packages/localnet/src/history/transaction-codec.ts';
import { blockhashFromBytes } from '../../src/solana/blockhash.ts';
import { Keypair } from '../../src/solana/ed25519.ts';
import { lamports } from '../../src/solana/units.ts';
import { accepted } from './engine/accepted.ts';

export const from = 'the disk';
export const covers = [
  'localnet/history/account-codec.ts',
  'localnet/history/record-codec.ts',
  'localnet/history/record-codec.ts',
  'localnet/bank/slot-trace.ts',
  'localnet/history/transaction-codec.ts',
];

const payer = Keypair.fromSeed(new Uint8Array(32).fill(1));
const blockhash = blockhashFromBytes(new Uint8Array(32).fill(2));
const header = {
  slot: 5,
  blockhash,
  previousBlockhash: blockhash,
  blockTime: 1_700_000_000,
  epochStartTime: 1_700_000_000,
  transactionCount: 9n,
};
const account = {
  lamports: lamports(5),
  data: Uint8Array.of(1, 2, 3),
  owner: payer.address,
  executable: false,
  rentEpoch: 0n,
};
const meta = {
  err: { InstructionError: [0, { Custom: 1 }] as const },
  fee: lamports(5000),
  preBalances: [lamports(1)],
  postBalances: [lamports(2)],
  innerInstructions: [],
  logMessages: ['a log'],
  preTokenBalances: [],
  postTokenBalances: [],
  rewards: [] as const,
  loadedAddresses: { writable: [], readonly: [] },
  returnData: null,
  computeUnitsConsumed: 150n,
  costUnits: 1400n,
};

export const seeds: readonly Uint8Array[] = [
  encodeRecord({ header, transactions: [], rewards: [], accounts: new Map(), trace: null }),
  encodeRecord({
    header,
    transactions: [{ transaction: faucetTransfer(payer, payer.address, lamports(1), blockhash), meta }],
    rewards: [
      {
        pubkey: payer.address,
        lamports: 2500n,
        postBalance: lamports(7500),
        rewardType: 'Fee',
        commission: null,
      },
    ],
    accounts: new Map([[payer.address, account]]),
    trace: {
      refused: new Map([[1, new Uint8Array(32).fill(9)]]),
      writers: new Map([[payer.address, { transaction: 0, sequence: 3 }]]),
    },
  }),
];

/** Reads a record, and each part of it, or says that it is corrupt, and nothing else. */
export const fuzz = (bytes: Uint8Array): boolean =>
  [decodeRecord, decodeBlock, decodeChanges, decodeHeader]
    .map((decode) => accepted(() => decode(bytes), CorruptRecord))
    .includes(true);
