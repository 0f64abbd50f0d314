import type { SubscribeUpdate } from '@triton-one/yellowstone-grpc';
import fc from 'fast-check';
import { encodeBase58 } from '../../src/solana/base58.ts';
import { U64_MAX } from '../../src/solana/units.ts';
import type { OracleMeta, OracleTransaction } from './oracle.ts';

/** Random messages in the shape of the published codec. */

type Input = Partial<SubscribeUpdate>;

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const short = fc.uint8Array({ maxLength: 20 });
export const key = bytes(32);
const keyText = key.map(encodeBase58);
const u64 = fc.oneof(fc.bigInt(0n, U64_MAX), fc.constantFrom(0n, U64_MAX, 2n ** 53n)).map(String);
const i64 = fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n).map(String);
const count = fc.maxSafeNat().map(String);
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const list = <T>(value: fc.Arbitrary<T>) => fc.array(value, { maxLength: 3 });
const instruction = { programIdIndex: fc.nat(255), accounts: short, data: short };

const transaction: fc.Arbitrary<OracleTransaction> = fc.record({
  signatures: list(bytes(64)),
  message: fc
    .record({
      header: fc.record({
        numRequiredSignatures: fc.nat(127),
        numReadonlySignedAccounts: fc.nat(255),
        numReadonlyUnsignedAccounts: fc.nat(255),
      }),
      accountKeys: list(key),
      recentBlockhash: key,
      instructions: list(fc.record(instruction)),
      versioned: fc.boolean(),
      addressTableLookups: list(
        fc.record({ accountKey: key, writableIndexes: short, readonlyIndexes: short }),
      ),
    })
    .map((message) => (message.versioned ? message : { ...message, addressTableLookups: [] })),
});

const tokenBalance = fc.record({
  accountIndex: fc.nat(255),
  mint: keyText,
  owner: fc.oneof(keyText, fc.constant('')),
  programId: fc.oneof(keyText, fc.constant('')),
  uiTokenAmount: optional(
    fc.record({
      uiAmount: fc.double({ noNaN: true }),
      decimals: fc.nat(255),
      amount: u64,
      uiAmountString: fc.string(),
    }),
  ),
});

const reward = fc.record({
  pubkey: keyText,
  lamports: i64,
  postBalance: u64,
  rewardType: fc.nat(4),
  commission: fc.oneof(fc.nat(255).map(String), fc.constant('')),
  commissionBps: fc.constant(''),
});

const meta: fc.Arbitrary<OracleMeta> = fc.record({
  err: fc.constantFrom(undefined, { err: Uint8Array.of(8, 0, 0, 0, 3, 25, 0, 0, 0, 1, 2, 0, 0) }),
  fee: u64,
  preBalances: list(u64),
  postBalances: list(u64),
  innerInstructions: list(
    fc.record({
      index: fc.nat(255),
      instructions: list(fc.record({ ...instruction, stackHeight: optional(fc.nat(9)) })),
    }),
  ),
  innerInstructionsNone: fc.boolean(),
  logMessages: list(fc.string({ unit: 'binary' })),
  logMessagesNone: fc.boolean(),
  preTokenBalances: list(tokenBalance),
  postTokenBalances: list(tokenBalance),
  rewards: list(reward),
  loadedWritableAddresses: list(key),
  loadedReadonlyAddresses: list(key),
  returnData: optional(fc.record({ programId: key, data: short })),
  returnDataNone: fc.boolean(),
  computeUnitsConsumed: optional(u64),
  costUnits: optional(u64),
});

const transactionInfo = fc.record({
  signature: bytes(64),
  isVote: fc.boolean(),
  transaction,
  meta,
  index: count,
});

const write = fc.record({
  pubkey: key,
  lamports: u64,
  owner: key,
  executable: fc.boolean(),
  rentEpoch: u64,
  data: short,
  writeVersion: u64,
  txnSignature: optional(bytes(64)),
});

const entry = fc.record({
  slot: u64,
  index: count,
  numHashes: u64,
  hash: key,
  executedTransactionCount: count,
  startingTransactionIndex: count,
});

const header = {
  slot: u64,
  blockhash: keyText,
  rewards: fc.record({ rewards: list(reward), numPartitions: optional(fc.record({ numPartitions: u64 })) }),
  blockTime: optional(fc.record({ timestamp: i64 })),
  blockHeight: optional(fc.record({ blockHeight: u64 })),
  parentSlot: u64,
  parentBlockhash: keyText,
  executedTransactionCount: count,
  entriesCount: count,
};

const account: fc.Arbitrary<Input> = fc.record({
  account: fc.record({ account: write, slot: u64, isStartup: fc.boolean() }),
});
const slot: fc.Arbitrary<Input> = fc.record({
  slot: fc.record({
    slot: u64,
    parent: optional(u64),
    status: fc.nat(6),
    deadError: optional(fc.string()),
  }),
});
const transactionUpdate: fc.Arbitrary<Input> = fc.record({
  transaction: fc.record({ transaction: transactionInfo, slot: u64 }),
});
const transactionStatus: fc.Arbitrary<Input> = fc.record({
  transactionStatus: fc.record({
    slot: u64,
    signature: bytes(64),
    isVote: fc.boolean(),
    index: count,
    err: fc.constantFrom(undefined, { err: Uint8Array.of(31, 0, 0, 0, 7) }),
  }),
});
const block: fc.Arbitrary<Input> = fc.record({
  block: fc.record({
    ...header,
    transactions: list(transactionInfo),
    updatedAccountCount: count,
    accounts: list(write),
    entries: list(entry),
  }),
});
const blockMeta: fc.Arbitrary<Input> = fc.record({ blockMeta: fc.record(header) });
const ping: fc.Arbitrary<Input> = fc.constant({ ping: {} });
const pong: fc.Arbitrary<Input> = fc.record({ pong: fc.record({ id: fc.integer() }) });

/** Random updates by kind, under Solway's names. */
export const updates = {
  account,
  slot,
  transaction: transactionUpdate,
  transactionStatus,
  block,
  blockMeta,
  entry: fc.record({ entry }) as fc.Arbitrary<Input>,
  ping,
  pong,
};

/** The fields that every update has. */
export const envelope = fc.record({
  filters: list(fc.string()),
  createdAt: optional(fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(8_000_000_000_000) })),
});
