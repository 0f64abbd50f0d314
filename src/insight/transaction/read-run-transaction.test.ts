import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type JsonValue, parseJson, writeJson } from '../../base/json.ts';
import type { Address } from '../../ledger/address.ts';
import { encodeBase58 } from '../../ledger/base58.ts';
import { nativeMint, programs } from '../../ledger/programs.ts';
import { parsedTransaction, readDeeds } from './parse-transaction.ts';
import { readRunTransaction } from './read-run-transaction.ts';
import type { RunTransaction } from './run-transaction.ts';

const key = (fill: number): Address => encodeBase58(new Uint8Array(32).fill(fill)) as Address;
const [PAYER, SOURCE, DESTINATION, MINT, OTHER] = [1, 2, 3, 4, 5].map(key) as [
  Address,
  Address,
  Address,
  Address,
  Address,
];
const SIGNATURE = encodeBase58(new Uint8Array(64).fill(9));

type Members = { [name: string]: JsonValue };

const signed = (instructions: JsonValue[], more: Members = {}, keys: JsonValue[] = []): Members => ({
  signatures: [SIGNATURE],
  message: {
    accountKeys: [PAYER, SOURCE, DESTINATION, MINT, programs.token, programs.system, ...keys],
    header: { numRequiredSignatures: 1 },
    instructions,
    ...more,
  },
});

const told = (instructions: JsonValue[], meta: Members = {}, keys: JsonValue[] = []): Members => ({
  slot: 7,
  blockTime: 1_700_000_000,
  transaction: signed(instructions, {}, keys),
  meta: { err: null, fee: 5000, ...meta },
});

function readOrFail(result: JsonValue): RunTransaction {
  const transaction = readRunTransaction(result);
  if (transaction === null) throw new Error('no transaction');
  return transaction;
}

const calls = (programId: JsonValue, stackHeight: JsonValue = null): Members => ({
  programId,
  accounts: [],
  data: '',
  stackHeight,
});

const inner = (index: number, ...instructions: JsonValue[]): Members => ({ index, instructions });

/** Number, height and caller of each instruction. */
const order = ({ instructions }: RunTransaction) =>
  instructions.map(({ index, height, caller }) => [index, height, caller]);

describe('instructions', () => {
  it('are numbered with their inner ones behind them, and know the outer program', () => {
    const { instructions } = readOrFail(
      told([calls(OTHER), calls(programs.system), calls(OTHER)], {
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

  it('know who called them by their heights, and the outer one where nothing says it', () => {
    const heights = [2, 3, 4, 3, 4, 2, null, 3];
    const innerInstructions = [inner(0, ...heights.map((height) => calls(OTHER, height)))];
    expect(order(readOrFail(told([calls(OTHER)], { innerInstructions })))).toEqual([
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
    'take the outer one for the caller where a height of %s cannot be',
    (height) => {
      const innerInstructions = [inner(0, calls(OTHER, 2), calls(OTHER, height))];
      expect(order(readOrFail(told([calls(OTHER)], { innerInstructions })))[2]).toEqual([2, null, 0]);
    },
  );

  it('that name no program take their number and are left out', () => {
    const nameless = [{ programIdIndex: 99 }, { programId: 'x' }, null, 7, [], {}];
    const { instructions } = readOrFail(told([calls(OTHER), ...nameless, calls(programs.system)]));
    expect(instructions.map(({ index }) => index)).toEqual([0, 7]);
  });

  it('keep the places of their accounts: those behind one that is nowhere are left out', () => {
    const data = encodeBase58(Uint8Array.of(3, 9, 0, 0, 0, 0, 0, 0, 0));
    const [whole, cut] = readOrFail(
      told([
        { programIdIndex: 4, accounts: [1, 2, 0], data },
        { programIdIndex: 4, accounts: [1, 77, 2, 0], data },
      ]),
    ).instructions;
    expect(whole).toMatchObject({ accounts: [SOURCE, DESTINATION, PAYER], parsed: { type: 'transfer' } });
    expect(cut).toMatchObject({ accounts: [SOURCE], parsed: null });
    const sync = { programIdIndex: 4, accounts: [1, 77], data: encodeBase58(Uint8Array.of(17)) };
    expect(readOrFail(told([sync])).instructions).toMatchObject([{ accounts: [SOURCE], parsed: null }]);
  });

  it('are read by their meaning also where the node left them as bytes', () => {
    const data = encodeBase58(Uint8Array.of(2, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255));
    const [transfer] = readOrFail(told([{ programIdIndex: 5, accounts: [0, 2], data }])).instructions;
    expect(transfer?.parsed).toEqual({
      type: 'transfer',
      info: { source: PAYER, destination: DESTINATION, lamports: 2n ** 64n - 1n },
    });
  });

  it('have data of up to 10 KiB, and none where it is longer or no base58', () => {
    const long = encodeBase58(new Uint8Array(10_240).fill(255));
    const { instructions } = readOrFail(
      told([long, `${long}1`, '0', 7].map((data) => ({ programId: OTHER, accounts: [], data }))),
    );
    expect(instructions.map(({ data }) => data.length)).toEqual([10_240, 0, 0, 0]);
  });
});

describe('keys', () => {
  it('are the static ones, then the loaded ones: writable before readonly', () => {
    const meta = { loadedAddresses: { writable: [OTHER], readonly: [programs.ata] } };
    const { accountKeys, signers } = readOrFail(told([], meta));
    expect(accountKeys.slice(-2)).toEqual([OTHER, programs.ata]);
    expect(signers).toEqual([PAYER]);
  });

  it('of jsonParsed have the loaded ones among them already, and say who signed', () => {
    const keys = [PAYER, SOURCE, OTHER].map((pubkey, at) => ({ pubkey, signer: at !== 1 }));
    const { accountKeys, signers } = readOrFail({
      transaction: { signatures: [SIGNATURE], message: { accountKeys: keys, instructions: [] } },
      meta: { loadedAddresses: { writable: [OTHER], readonly: [] } },
    });
    expect(accountKeys).toEqual([PAYER, SOURCE, OTHER]);
    expect(signers).toEqual([PAYER, OTHER]);
  });

  it('end where one is no address', () => {
    expect(readOrFail(told([], {}, [OTHER, 'nobody', key(6)])).accountKeys.at(-1)).toBe(OTHER);
  });
});

const balance = (
  accountIndex: JsonValue,
  amount: JsonValue,
  decimals: JsonValue,
  owner?: Address,
): Members => ({
  accountIndex,
  mint: MINT,
  ...(owner && { owner }),
  programId: programs.token,
  uiTokenAmount: { amount, decimals },
});

describe('token accounts', () => {
  it('are known from balances before and after', () => {
    const { tokenAccounts, decimals } = readOrFail(
      told([], {
        preTokenBalances: [balance(1, '500', 6, PAYER)],
        postTokenBalances: [balance(1, '200', 6, PAYER), balance(2, '18446744073709551615', 6, OTHER)],
      }),
    );
    const shared = { mint: MINT, decimals: 6, program: programs.token };
    expect([...tokenAccounts.values()]).toEqual([
      { address: SOURCE, ...shared, owner: PAYER, before: 500n, after: 200n },
      { address: DESTINATION, ...shared, owner: OTHER, before: 0n, after: 2n ** 64n - 1n },
    ]);
    expect(decimals.get(MINT)).toBe(6);
    expect(decimals.get(nativeMint)).toBe(9);
  });

  it('had nothing before of a mint for which they were closed and opened again', () => {
    const { tokenAccounts } = readOrFail(
      told([], {
        preTokenBalances: [{ ...balance(1, '500', 9, PAYER), mint: OTHER }],
        postTokenBalances: [balance(1, '200', 6, PAYER)],
      }),
    );
    expect(tokenAccounts.get(SOURCE)).toMatchObject({ mint: MINT, decimals: 6, before: 0n, after: 200n });
  });

  it.each([
    [
      'spl-token',
      programs.token,
      'initializeAccount3',
      { account: SOURCE, mint: MINT, owner: PAYER },
      programs.token,
    ],
    [
      'spl-associated-token-account',
      programs.ata,
      'createIdempotent',
      { account: SOURCE, mint: MINT, wallet: PAYER, tokenProgram: programs.token2022 },
      programs.token2022,
    ],
  ])('are known from what %s makes', (program, programId, type, info, keeper) => {
    const { tokenAccounts } = readOrFail(told([{ program, programId, parsed: { type, info } }]));
    expect(tokenAccounts.get(SOURCE)).toEqual({
      ...{ address: SOURCE, mint: MINT, owner: PAYER, program: keeper },
      ...{ decimals: null, before: 0n, after: 0n },
    });
  });

  it('are known from what moves between them, with the decimals that it names', () => {
    const tokenAmount = { amount: '5', decimals: 3 };
    const info = { source: SOURCE, destination: DESTINATION, mint: MINT, authority: PAYER, tokenAmount };
    const parsed = { type: 'transferChecked', info };
    const { tokenAccounts, decimals } = readOrFail(told([{ programId: programs.token, parsed }]));
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
  ])('are not made of balances that cannot be: %j', (postTokenBalances) => {
    expect(readOrFail(told([], { postTokenBalances })).tokenAccounts.size).toBe(0);
  });

  it.each([[256], [-1], [2.5], [1e9], ['6'], [null]])('have no decimals where a node says %s', (decimals) => {
    const transaction = readOrFail(told([], { postTokenBalances: [balance(1, '1', decimals)] }));
    expect(transaction.tokenAccounts.get(SOURCE)?.decimals).toBeNull();
  });
});

describe('what is no transaction', () => {
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
    [told([], { logMessages: deep(100) })],
  ])('is null: %j', (result) => {
    expect(readRunTransaction(result)).toBeNull();
  });

  it('is not one without a meta: what ran is told without what came of it', () => {
    const { transaction } = told([calls(OTHER)]);
    expect(readOrFail({ transaction: transaction as JsonValue })).toMatchObject({
      ...{ slot: 0n, blockTime: null, fee: 0n, err: null, logs: [], preBalances: [] },
      instructions: [{ program: OTHER }],
    });
  });
});

/** A transaction with a bit of everything. */
const rich = told(
  [
    {
      programIdIndex: 5,
      accounts: [0, 2],
      data: encodeBase58(Uint8Array.of(2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0)),
    },
    { programId: programs.memoV3, parsed: 'hello' },
    { programIdIndex: 6, accounts: [0, 1, 2], data: encodeBase58(new Uint8Array(40)) },
  ],
  {
    innerInstructions: [
      inner(
        2,
        {
          programId: programs.token,
          stackHeight: 2,
          parsed: {
            type: 'transferChecked',
            info: {
              ...{ source: SOURCE, destination: DESTINATION, mint: MINT, authority: PAYER },
              tokenAmount: { amount: '5', decimals: 3 },
            },
          },
        },
        {
          programId: programs.token,
          parsed: { type: 'burn', info: { account: SOURCE, mint: MINT, amount: '1' } },
        },
        {
          programId: programs.token,
          parsed: { type: 'mintTo', info: { account: SOURCE, mint: MINT, amount: '1' } },
        },
      ),
    ],
    preTokenBalances: [balance(1, '500', 3, PAYER)],
    postTokenBalances: [balance(2, '5', 3, OTHER)],
    preBalances: [5, 6],
    postBalances: [4, 7],
    logMessages: ['Program log: hello'],
  },
  ['JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4'],
);

/** Every place in a value, as a path. */
function placesOf(value: JsonValue, path: readonly string[] = []): (readonly string[])[] {
  if (value === null || typeof value !== 'object') return [path];
  return [path, ...Object.entries(value).flatMap(([name, member]) => placesOf(member, [...path, name]))];
}

function replaced(value: JsonValue, [name, ...rest]: readonly string[], by: JsonValue): JsonValue {
  if (name === undefined) return by;
  const members = value as Members;
  const changed = { ...members, [name]: replaced(members[name] as JsonValue, rest, by) };
  return Array.isArray(value) ? Object.values(changed) : changed;
}

const anything: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.constantFrom<JsonValue>(null, 0, -1, 255, 256, 1e300, 2n ** 64n, '', '1', MINT, programs.token, [], {}),
  fc.jsonValue({ maxDepth: 3 }).map((value) => parseJson(JSON.stringify(value))),
);

const written = (result: JsonValue): string | null => {
  const transaction = readRunTransaction(result);
  return (
    transaction &&
    writeJson(parsedTransaction(transaction, readDeeds(transaction), new Map(), { events: true }))
  );
};

describe('whatever a node says', () => {
  it('is read and shown, or is no transaction, however many of its members are something else', () => {
    const places = placesOf(rich);
    expect(written(rich)).toContain('"TOKEN_BURN"');
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom(...places), anything), { minLength: 1, maxLength: 4 }),
        (changes) => {
          const changed = changes.reduce<JsonValue>((value, [path, by]) => {
            try {
              return replaced(value, path, by);
            } catch {
              return value;
            }
          }, rich);
          const text = written(changed);
          if (text !== null) parseJson(text);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('takes little time, with tens of thousands of instructions in one another', () => {
    const router = 'JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4';
    const marketplace = 'formn3hJtt8gvVKxpCfzCJGuoz6CNUFcULFZW18iTpC';
    const transfer = (at: number): Members => ({
      ...{ source: key(at & 255), destination: key((at >> 8) & 255), amount: String(at), authority: PAYER },
    });
    const instructions = Array.from({ length: 30_000 }, (_, at): JsonValue => {
      const stackHeight = at % 250;
      if (at % 3 === 0) {
        return { programId: programs.token, stackHeight, parsed: { type: 'transfer', info: transfer(at) } };
      }
      const data = encodeBase58(Uint8Array.of(228, 69, 165, 46, at & 255));
      const accounts = Array.from({ length: 20 }, (__, of) => key(of + 1));
      return { programId: at % 3 === 1 ? router : marketplace, stackHeight, accounts, data };
    });
    const result = told([calls(router)], {
      innerInstructions: [{ index: 0, instructions }],
      postTokenBalances: [balance(1, '1', 6, PAYER)],
      logMessages: Array.from({ length: 30_000 }, (_, at) => `Program ${router} invoke [${at % 9}]`),
    });
    const start = performance.now();
    expect(written(result)).not.toBeNull();
    expect(performance.now() - start).toBeLessThan(2_000);
    const { instructions: kept, logs } = readOrFail(result);
    expect([kept.length, logs.length]).toEqual([1_000, 5_000]);
  });

  it('takes no time for long data of programs that nobody knows, and a bounded one for that of others', () => {
    const long = encodeBase58(new Uint8Array(10_150).fill(65));
    const memos = (programId: Address) => {
      const called = Array.from({ length: 63 }, () => ({ programId, accounts: [PAYER], data: long }));
      const last = { programId: programs.memoV3, accounts: [PAYER], data: encodeBase58(Uint8Array.of(66)) };
      const { instructions } = readOrFail(
        told([calls(OTHER)], { innerInstructions: [inner(0, ...called, last)] }),
      );
      return instructions.slice(1).map(({ parsed }) => parsed !== null);
    };
    const start = performance.now();
    expect(memos(OTHER)).toEqual([...Array(63).fill(false), true]);
    expect(performance.now() - start).toBeLessThan(50);
    expect(memos(programs.memoV3)).toEqual([...Array(9).fill(true), ...Array(54).fill(false), true]);
  });

  it('has the data of an instruction decoded once', () => {
    const [first] = readOrFail(
      told([{ ...calls(OTHER), data: encodeBase58(Uint8Array.of(1, 2)) }]),
    ).instructions;
    expect(first?.data).toEqual(Uint8Array.of(1, 2));
    expect(first?.data).toBe(first?.data);
  });
});
