import { describe, expect, it } from 'vitest';
import { parseJson, writeJson } from '../../base/json.ts';
import { type Address, addressFromBytes } from '../address.ts';
import { encodeBase58 } from '../base58.ts';
import type { ExecutedTransaction } from '../block.ts';
import { blockhashFromBytes } from '../blockhash.ts';
import type { Message } from '../message/message.ts';
import { programs } from '../programs.ts';
import { signatureFromBytes } from '../signature.ts';
import type { TransactionMeta } from '../transaction/transaction-meta.ts';
import { lamports } from '../units.ts';
import type { TransactionDetails, TransactionEncoding } from './encodings.ts';
import { encodeTokenBalances } from './ui-meta.ts';
import { encodeTransactionWithMeta } from './ui-transaction.ts';

const key = (n: number): Address => addressFromBytes(new Uint8Array(32).fill(n));
const signature = signatureFromBytes(new Uint8Array(64).fill(9));
const recentBlockhash = blockhashFromBytes(new Uint8Array(32).fill(8));
const transferData = Uint8Array.of(2, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0);

const message: Message = {
  version: 0,
  header: { numRequiredSignatures: 1, numReadonlySignedAccounts: 0, numReadonlyUnsignedAccounts: 2 },
  accountKeys: [key(1), programs.system, programs.computeBudget],
  recentBlockhash,
  instructions: [
    { programIdIndex: 1, accounts: Uint8Array.of(0, 3), data: transferData },
    { programIdIndex: 2, accounts: new Uint8Array(), data: Uint8Array.of(2, 1, 0, 0, 0) },
  ],
  addressTableLookups: [
    { accountKey: key(4), writableIndexes: Uint8Array.of(0), readonlyIndexes: Uint8Array.of(1) },
  ],
};

const balance = {
  accountIndex: 3,
  mint: key(6),
  owner: key(7),
  programId: programs.token,
  amount: 0n,
  decimals: 6,
};

const meta: TransactionMeta = {
  err: null,
  fee: lamports(5000),
  preBalances: [10, 1, 1, 0, 1].map(lamports),
  postBalances: [3, 1, 1, 7, 1].map(lamports),
  innerInstructions: [
    {
      index: 0,
      instructions: [
        { programIdIndex: 1, accounts: Uint8Array.of(0, 4), data: transferData, stackHeight: 2 },
      ],
    },
  ],
  logMessages: ['Program 1 success'],
  preTokenBalances: [],
  postTokenBalances: [balance],
  rewards: [],
  loadedAddresses: { writable: [key(2)], readonly: [key(3)] },
  returnData: { programId: key(5), data: Uint8Array.of(1, 2) },
  computeUnitsConsumed: 150n,
  costUnits: 1481n,
};

const transaction = {
  signatures: [signature],
  message,
  messageBytes: Uint8Array.of(2, 3),
  wire: Uint8Array.of(1, 2, 3),
};
const executed: ExecutedTransaction = { transaction, meta };
const legacy: ExecutedTransaction = {
  transaction: { ...transaction, message: { ...message, version: 'legacy', addressTableLookups: [] } },
  meta: { ...meta, loadedAddresses: { writable: [], readonly: [] } },
};

type Shown = { transaction: { message: object }; meta: object };

function encoded(
  of: ExecutedTransaction,
  encoding: TransactionEncoding,
  version: number | undefined,
  details: TransactionDetails = 'full',
  showRewards?: boolean,
): Shown {
  const shown = encodeTransactionWithMeta(of, encoding, version, details, showRewards);
  return ('json' in shown ? parseJson(writeJson(shown.json)) : shown) as Shown;
}

const transfer = (destination: number, stackHeight: number) => ({
  parsed: { info: { destination: key(destination), lamports: 7, source: key(1) }, type: 'transfer' },
  program: 'system',
  programId: programs.system,
  stackHeight,
});

describe('encodeTransactionWithMeta', () => {
  it('renders json with loaded addresses', () => {
    expect(encoded(executed, 'json', 0)).toMatchObject({
      transaction: {
        signatures: [signature],
        message: {
          accountKeys: [key(1), programs.system, programs.computeBudget],
          addressTableLookups: [{ accountKey: key(4), readonlyIndexes: [1], writableIndexes: [0] }],
          header: { numReadonlySignedAccounts: 0, numReadonlyUnsignedAccounts: 2, numRequiredSignatures: 1 },
          instructions: [
            { accounts: [0, 3], data: encodeBase58(transferData), programIdIndex: 1, stackHeight: 1 },
            {
              accounts: [],
              data: encodeBase58(Uint8Array.of(2, 1, 0, 0, 0)),
              programIdIndex: 2,
              stackHeight: 1,
            },
          ],
          recentBlockhash,
        },
      },
      meta: {
        innerInstructions: [
          { index: 0, instructions: [{ accounts: [0, 4], programIdIndex: 1, stackHeight: 2 }] },
        ],
        loadedAddresses: { readonly: [key(3)], writable: [key(2)] },
      },
    });
  });

  it('renders jsonParsed', () => {
    const shown = encoded(executed, 'jsonParsed', 0);
    expect(shown).toMatchObject({
      transaction: {
        message: {
          accountKeys: [
            { pubkey: key(1), signer: true, source: 'transaction', writable: true },
            { pubkey: programs.system, signer: false, source: 'transaction', writable: false },
            { pubkey: programs.computeBudget, signer: false, source: 'transaction', writable: false },
            { pubkey: key(2), signer: false, source: 'lookupTable', writable: true },
            { pubkey: key(3), signer: false, source: 'lookupTable', writable: false },
          ],
          instructions: [
            transfer(2, 1),
            {
              accounts: [],
              data: encodeBase58(Uint8Array.of(2, 1, 0, 0, 0)),
              programId: programs.computeBudget,
              stackHeight: 1,
            },
          ],
        },
      },
      meta: { innerInstructions: [{ index: 0, instructions: [transfer(3, 2)] }] },
    });
    expect(shown.meta).not.toHaveProperty('loadedAddresses');
  });

  it('orders meta members as on the wire and omits unrecorded ones', () => {
    const { meta: shown } = encoded(legacy, 'json', undefined);
    expect(Object.keys(shown)).toEqual([
      'computeUnitsConsumed',
      'costUnits',
      'err',
      'fee',
      'innerInstructions',
      'loadedAddresses',
      'logMessages',
      'postBalances',
      'postTokenBalances',
      'preBalances',
      'preTokenBalances',
      'returnData',
      'rewards',
      'status',
    ]);
    const silent = { ...legacy, meta: { ...legacy.meta, returnData: null } };
    expect(encoded(silent, 'json', undefined).meta).not.toHaveProperty('returnData');
  });

  it('renders unrecorded lists as null and omits other values', () => {
    const inner = {
      index: 0,
      instructions: [
        { programIdIndex: 1, accounts: new Uint8Array(), data: new Uint8Array(), stackHeight: null },
      ],
    };
    const old = {
      ...legacy.meta,
      ...{ logMessages: null, preTokenBalances: null, rewards: null },
      ...{ computeUnitsConsumed: null, costUnits: null, returnData: null },
      innerInstructions: [inner],
      postTokenBalances: [{ ...balance, owner: null, programId: null }],
    };
    const { meta: shown } = encoded({ ...legacy, meta: old }, 'json', 0);
    expect(shown).toMatchObject({ logMessages: null, preTokenBalances: null, rewards: null });
    for (const name of ['computeUnitsConsumed', 'costUnits', 'returnData']) {
      expect(shown).not.toHaveProperty(name);
    }
    expect(shown).toHaveProperty('innerInstructions.0.instructions.0.stackHeight', null);
    expect(shown).not.toHaveProperty('postTokenBalances.0.owner');
    expect(shown).not.toHaveProperty('postTokenBalances.0.programId');
    const silent = { ...legacy, meta: { ...old, innerInstructions: null } };
    expect(encoded(silent, 'json', 0).meta).toHaveProperty('innerInstructions', null);
    expect(encoded(silent, 'json', 0, 'accounts').meta).toMatchObject({
      preTokenBalances: null,
      rewards: null,
    });
  });

  it('renders status and error', () => {
    const err = { InstructionError: [0, { Custom: 1 }] } as const;
    const failed = { ...legacy, meta: { ...legacy.meta, err } };
    expect(encoded(failed, 'json', 0)).toMatchObject({ meta: { err, status: { Err: err } } });
    expect(encoded(legacy, 'json', 0)).toMatchObject({
      meta: { err: null, status: { Ok: null }, rewards: [] },
    });
    expect(encoded(legacy, 'json', 0, 'full', false)).toMatchObject({ meta: { rewards: null } });
  });

  it('shows the version only on request and rejects unsupported ones', () => {
    expect(encoded(legacy, 'json', undefined)).not.toHaveProperty('version');
    expect(encoded(legacy, 'json', 0)).toMatchObject({ version: 'legacy' });
    expect(encoded(executed, 'json', undefined)).toEqual({ unsupportedVersion: 0 });
    expect(encoded(executed, 'json', undefined, 'accounts')).toEqual({ unsupportedVersion: 0 });
    expect(encoded(executed, 'json', 1)).toMatchObject({ version: 0 });
  });

  it('supports details accounts, signatures and none', () => {
    const shown = encoded(executed, 'json', 0, 'accounts', false);
    expect(Object.keys(shown.transaction)).toEqual(['accountKeys', 'signatures']);
    expect(Object.keys(shown.meta)).toEqual([
      'err',
      'fee',
      'postBalances',
      'postTokenBalances',
      'preBalances',
      'preTokenBalances',
      'status',
    ]);
    expect(encoded(executed, 'json', undefined, 'signatures')).toBe(signature);
    expect(encoded(executed, 'json', undefined, 'none')).toBeNull();
  });

  it('drops zero token balances of stored blocks but not of simulations', () => {
    expect(encoded(legacy, 'json', 0)).toMatchObject({
      meta: { postTokenBalances: [{ uiTokenAmount: { amount: '0', uiAmount: null, uiAmountString: '0' } }] },
    });
    expect(writeJson(encodeTokenBalances([balance]))).toContain('"uiAmount":0.0,');
  });
});
