import { describe, expect, it } from 'vitest';
import {
  balance,
  calls,
  DESTINATION,
  inner,
  key,
  MINT,
  OTHER,
  order,
  PAYER,
  readOrFail,
  SIGNATURE,
  SOURCE,
  transactionResult,
} from '../../../test/decoding/transactions/node-responses.ts';
import type { JsonValue } from '../../base/json.ts';
import { encodeBase58 } from '../../solana/base58.ts';
import { nativeMint, programs } from '../../solana/programs.ts';
import { readExecutedTransaction } from './read-executed-transaction.ts';

describe('instructions', () => {
  it('are numbered in execution order, inner after outer', () => {
    const { instructions } = readOrFail(
      transactionResult([calls(OTHER), calls(programs.system), calls(OTHER)], {
        innerInstructions: [
          inner(2, calls(programs.token)),
          inner(0, calls(programs.token), calls(programs.ata)),
          inner(0, calls(programs.vote)),
        ],
      }),
    );
    expect(
      instructions.map(({ index, outer, program, parentProgram }) => [index, outer, program, parentProgram]),
    ).toEqual([
      [0, 0, OTHER, null],
      [1, 0, programs.token, OTHER],
      [2, 0, programs.ata, OTHER],
      [3, 1, programs.system, null],
      [4, 2, OTHER, null],
      [5, 2, programs.token, OTHER],
    ]);
  });

  it('derive the caller from heights, else use the outer instruction', () => {
    const heights = [2, 3, 4, 3, 4, 2, null, 3];
    const innerInstructions = [inner(0, ...heights.map((height) => calls(OTHER, height)))];
    expect(order(readOrFail(transactionResult([calls(OTHER)], { innerInstructions })))).toEqual([
      [0, 1, null],
      [1, 2, 0],
      [2, 3, 1],
      [3, 4, 2],
      [4, 3, 1],
      [5, 4, 4],
      [6, 2, 0],
      [7, null, 0],
      [8, 3, 7],
    ]);
  });

  it.each([[9], [0], [1], [-3], [2.5], ['3'], [1e300], [4]])(
    'use the outer instruction as caller for an impossible height of %s',
    (height) => {
      const innerInstructions = [inner(0, calls(OTHER, 2), calls(OTHER, height))];
      expect(order(readOrFail(transactionResult([calls(OTHER)], { innerInstructions })))[2]).toEqual([
        2,
        null,
        0,
      ]);
    },
  );

  it('without a program are omitted but keep their number', () => {
    const nameless = [{ programIdIndex: 99 }, { programId: 'x' }, null, 7, [], {}];
    const { instructions } = readOrFail(
      transactionResult([calls(OTHER), ...nameless, calls(programs.system)]),
    );
    expect(instructions.map(({ index }) => index)).toEqual([0, 7]);
  });

  it('end the account list at the first invalid account', () => {
    const data = encodeBase58(Uint8Array.of(3, 9, 0, 0, 0, 0, 0, 0, 0));
    const [whole, cut] = readOrFail(
      transactionResult([
        { programIdIndex: 4, accounts: [1, 2, 0], data },
        { programIdIndex: 4, accounts: [1, 77, 2, 0], data },
      ]),
    ).instructions;
    expect(whole).toMatchObject({ accounts: [SOURCE, DESTINATION, PAYER], parsed: { type: 'transfer' } });
    expect(cut).toMatchObject({ accounts: [SOURCE], parsed: null });
    const sync = { programIdIndex: 4, accounts: [1, 77], data: encodeBase58(Uint8Array.of(17)) };
    expect(readOrFail(transactionResult([sync])).instructions).toMatchObject([
      { accounts: [SOURCE], parsed: null },
    ]);
  });

  it('are parsed if the node returns them as bytes', () => {
    const data = encodeBase58(Uint8Array.of(2, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255));
    const [transfer] = readOrFail(
      transactionResult([{ programIdIndex: 5, accounts: [0, 2], data }]),
    ).instructions;
    expect(transfer?.parsed).toEqual({
      type: 'transfer',
      info: { source: PAYER, destination: DESTINATION, lamports: 2n ** 64n - 1n },
    });
  });

  it('have data up to 10 KiB, and none when it is longer or not base58', () => {
    const long = encodeBase58(new Uint8Array(10_240).fill(255));
    const { instructions } = readOrFail(
      transactionResult([long, `${long}1`, '0', 7].map((data) => ({ programId: OTHER, accounts: [], data }))),
    );
    expect(instructions.map(({ data }) => data.length)).toEqual([10_240, 0, 0, 0]);
  });
});

describe('account keys', () => {
  it('are static, then loaded writable, then loaded readonly', () => {
    const meta = { loadedAddresses: { writable: [OTHER], readonly: [programs.ata] } };
    const { accountKeys, signers } = readOrFail(transactionResult([], meta));
    expect(accountKeys.slice(-2)).toEqual([OTHER, programs.ata]);
    expect(signers).toEqual([PAYER]);
  });

  it('of jsonParsed include loaded keys and signers', () => {
    const keys = [PAYER, SOURCE, OTHER].map((pubkey, at) => ({ pubkey, signer: at !== 1 }));
    const { accountKeys, signers } = readOrFail({
      transaction: { signatures: [SIGNATURE], message: { accountKeys: keys, instructions: [] } },
      meta: { loadedAddresses: { writable: [OTHER], readonly: [] } },
    });
    expect(accountKeys).toEqual([PAYER, SOURCE, OTHER]);
    expect(signers).toEqual([PAYER, OTHER]);
  });

  it('end at the first invalid address', () => {
    expect(readOrFail(transactionResult([], {}, [OTHER, 'nobody', key(6)])).accountKeys.at(-1)).toBe(OTHER);
  });
});

describe('token accounts', () => {
  it('come from balances before and after', () => {
    const { tokenAccounts, decimals } = readOrFail(
      transactionResult([], {
        preTokenBalances: [balance(1, '500', 6, PAYER)],
        postTokenBalances: [balance(1, '200', 6, PAYER), balance(2, '18446744073709551615', 6, OTHER)],
      }),
    );
    const shared = { mint: MINT, decimals: 6 };
    expect([...tokenAccounts.values()]).toEqual([
      { address: SOURCE, ...shared, owner: PAYER, before: 500n, after: 200n },
      { address: DESTINATION, ...shared, owner: OTHER, before: 0n, after: 2n ** 64n - 1n },
    ]);
    expect(decimals.get(MINT)).toBe(6);
    expect(decimals.get(nativeMint)).toBe(9);
  });

  it('reopened for another mint have no earlier balance', () => {
    const { tokenAccounts } = readOrFail(
      transactionResult([], {
        preTokenBalances: [{ ...balance(1, '500', 9, PAYER), mint: OTHER }],
        postTokenBalances: [balance(1, '200', 6, PAYER)],
      }),
    );
    expect(tokenAccounts.get(SOURCE)).toMatchObject({ mint: MINT, decimals: 6, before: 0n, after: 200n });
  });

  it.each([
    ['spl-token', programs.token, 'initializeAccount3', { account: SOURCE, mint: MINT, owner: PAYER }],
    [
      'spl-associated-token-account',
      programs.ata,
      'createIdempotent',
      { account: SOURCE, mint: MINT, wallet: PAYER, tokenProgram: programs.token2022 },
    ],
  ])('come from %s', (program, programId, type, info) => {
    const { tokenAccounts } = readOrFail(transactionResult([{ program, programId, parsed: { type, info } }]));
    expect(tokenAccounts.get(SOURCE)).toEqual({
      ...{ address: SOURCE, mint: MINT, owner: PAYER },
      ...{ decimals: null, before: 0n, after: 0n },
    });
  });

  it('come from transfers that name mint and decimals', () => {
    const tokenAmount = { amount: '5', decimals: 3 };
    const info = { source: SOURCE, destination: DESTINATION, mint: MINT, authority: PAYER, tokenAmount };
    const parsed = { type: 'transferChecked', info };
    const { tokenAccounts, decimals } = readOrFail(
      transactionResult([{ programId: programs.token, parsed }]),
    );
    expect([...tokenAccounts.values()]).toMatchObject(
      [SOURCE, DESTINATION].map((address) => ({ address, mint: MINT, owner: null, decimals: 3 })),
    );
    expect(decimals.get(MINT)).toBe(3);
  });

  it.each([
    [[balance(99, '1', 6)]],
    [[balance(1, '-1', 6)]],
    [[balance(1, '99999999999999999999', 6)]],
    [[balance(1, 1.5, 6)]],
    [[balance(-1, '1', 6)]],
    [['none', null, 5]],
    ['none'],
  ])('are not created from an impossible balance: %j', (postTokenBalances) => {
    expect(readOrFail(transactionResult([], { postTokenBalances })).tokenAccounts.size).toBe(0);
  });

  it.each([[256], [-1], [2.5], [1e9], ['6'], [null]])('have no decimals for %s', (decimals) => {
    const transaction = readOrFail(transactionResult([], { postTokenBalances: [balance(1, '1', decimals)] }));
    expect(transaction.tokenAccounts.get(SOURCE)?.decimals).toBeNull();
  });
});

describe('not a transaction', () => {
  const deep = (depth: number): JsonValue => (depth === 0 ? 1 : [deep(depth - 1)]);

  it.each([
    [null],
    [5],
    ['text'],
    [[]],
    [{}],
    [{ transaction: { signatures: [], message: { accountKeys: [PAYER] } } }],
    [{ transaction: { signatures: [SIGNATURE], message: { accountKeys: [] } } }],
    [{ transaction: ['AAAA', 'base64'] }],
    [{ transaction: [5] }],
    [transactionResult([], { logMessages: deep(100) })],
  ])('returns null: %j', (result) => {
    expect(readExecutedTransaction(result)).toBeNull();
  });

  it('still parses a transaction without meta', () => {
    const { transaction } = transactionResult([calls(OTHER)]);
    expect(readOrFail({ transaction: transaction as JsonValue })).toMatchObject({
      ...{ blockTime: null, fee: 0n, err: null, logs: [], preBalances: [] },
      instructions: [{ program: OTHER }],
    });
  });
});
