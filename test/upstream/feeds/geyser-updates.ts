import type { Account } from '../../../src/solana/account/account.ts';
import type { Address } from '../../../src/solana/address.ts';
import { blockhashFromBytes } from '../../../src/solana/blockhash.ts';
import { Keypair } from '../../../src/solana/ed25519.ts';
import { encodeMessage } from '../../../src/solana/message/message.ts';
import { programs } from '../../../src/solana/programs.ts';
import { type Signature, signatureBytes } from '../../../src/solana/signature.ts';
import { compileMessage } from '../../../src/solana/transaction/compile-message.ts';
import { decodeTransaction } from '../../../src/solana/transaction/decode-transaction.ts';
import { encodeTransaction } from '../../../src/solana/transaction/encode-transaction.ts';
import type { Transaction } from '../../../src/solana/transaction/transaction.ts';
import { lamports } from '../../../src/solana/units.ts';
import { oracleAccount, oracleTransaction } from '../../geyser/oracle.ts';
import { account as accountWith } from '../../streams/ledger-script.ts';
import type { UpdateMessage } from './geyser-server.ts';

/** Updates of a Geyser server, in the types of the published codec. */

export const payer = Keypair.fromSeed(new Uint8Array(32).fill(7));
const createdAt = new Date(1_700_000_000_000);

const statuses = {
  processed: 0,
  confirmed: 1,
  finalized: 2,
  firstShred: 3,
  completed: 4,
  created: 5,
  dead: 6,
} as const;

/** @param parent - default: the previous slot. */
export const slotIs = (slot: number, status: keyof typeof statuses, parent = slot - 1): UpdateMessage => ({
  filters: ['s'],
  createdAt,
  slot: { slot: String(slot), parent: String(parent), status: statuses[status], deadError: undefined },
});

/** @param balance - in lamports. */
export const account = (
  balance: number,
  data: Uint8Array = new Uint8Array(),
  owner = programs.system,
): Account => accountWith({ lamports: lamports(balance), data, owner });

/** @param signature - of the transaction that wrote it; null for writes outside transactions, such as rewards. */
export const accountIs = (
  slot: number,
  address: Address,
  value: Account,
  version: number,
  signature: Signature | null = null,
): UpdateMessage => ({
  filters: ['a0'],
  createdAt,
  account: {
    account: oracleAccount({ address, account: value, writeVersion: BigInt(version), signature }),
    slot: String(slot),
    isStartup: false,
  },
});

export function transfer(number: number): Transaction {
  const data = Uint8Array.of(2, 0, 0, 0, number, 0, 0, 0, 0, 0, 0, 0);
  const message = encodeMessage(
    compileMessage({
      feePayer: payer.address,
      recentBlockhash: blockhashFromBytes(new Uint8Array(32).fill(9)),
      instructions: [
        {
          programId: programs.system,
          accounts: [{ address: payer.address, signer: true, writable: true }],
          data,
        },
      ],
    }),
  );
  const decoded = decodeTransaction(encodeTransaction([payer.sign(message)], message));
  if ('fault' in decoded) throw new Error(decoded.fault);
  return decoded.transaction;
}

export const signatureOf = (transaction: Transaction): Signature => transaction.signatures[0]!;

const oracleMeta = {
  err: undefined,
  fee: '5000',
  preBalances: ['10', '1'],
  postBalances: ['5', '1'],
  innerInstructions: [],
  innerInstructionsNone: false,
  logMessages: ['Program 11111111111111111111111111111111 success'],
  logMessagesNone: false,
  preTokenBalances: [],
  postTokenBalances: [],
  rewards: [],
  loadedWritableAddresses: [],
  loadedReadonlyAddresses: [],
  returnData: undefined,
  returnDataNone: true,
  computeUnitsConsumed: '150',
  costUnits: '1481',
};

/** @param index - its position in the slot. */
export const transactionIs = (slot: number, transaction: Transaction, index = 0): UpdateMessage => ({
  filters: ['t0'],
  createdAt,
  transaction: {
    slot: String(slot),
    transaction: {
      signature: Uint8Array.from(signatureBytes(signatureOf(transaction))),
      isVote: false,
      transaction: oracleTransaction(transaction),
      meta: oracleMeta,
      index: String(index),
    },
  },
});

const hash = blockhashFromBytes(new Uint8Array(32).fill(5));

/** Block meta that states no counts, so that the slot may have any content. */
export const metaIs = (slot: number, parent = slot - 1): UpdateMessage => ({
  filters: ['m'],
  createdAt,
  blockMeta: {
    slot: String(slot),
    blockhash: hash,
    rewards: undefined,
    blockTime: undefined,
    blockHeight: { blockHeight: String(slot) },
    parentSlot: String(parent),
    parentBlockhash: hash,
    executedTransactionCount: '0',
    entriesCount: '0',
  },
});

/** An empty block. @param accounts - number of account writes in its slot. */
export const countsAre = (slot: number, accounts: number, parent = slot - 1): UpdateMessage => ({
  filters: ['b'],
  createdAt,
  block: {
    ...metaIs(slot, parent).blockMeta!,
    updatedAccountCount: String(accounts),
    transactions: [],
    accounts: [],
    entries: [],
  },
});

export const entryIs = (slot: number, index: number): UpdateMessage => ({
  filters: ['e'],
  createdAt,
  entry: {
    slot: String(slot),
    index: String(index),
    numHashes: '1',
    hash: new Uint8Array(32),
    executedTransactionCount: '0',
    startingTransactionIndex: '0',
  },
});

/** The updates that follow the content of a slot. */
export const endOf = (slot: number, parent = slot - 1): UpdateMessage[] => [
  countsAre(slot, 0, parent),
  metaIs(slot, parent),
  slotIs(slot, 'processed', parent),
];

export const wholeSlot = (slot: number, ...content: UpdateMessage[]): UpdateMessage[] => [
  slotIs(slot, 'created'),
  ...content,
  ...endOf(slot),
];
