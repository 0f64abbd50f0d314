import { describe, expect, it } from 'vitest';
import type { Swap } from '../../../src/decoding/transaction/action.ts';
import { instructionDiscriminator } from '../../../src/decoding/transaction/events/layout.ts';
import { readEvents } from '../../../src/decoding/transaction/events/read-events.ts';
import type { TransactionTokenAccount } from '../../../src/decoding/transaction/executed-transaction.ts';
import { parseEffects } from '../../../src/decoding/transaction/parse-transaction.ts';
import { readQuote } from '../../../src/decoding/transaction/swap/jupiter-route.ts';
import { recognizeSwaps } from '../../../src/decoding/transaction/swap/recognize-swaps.ts';
import type { Address } from '../../../src/solana/address.ts';
import { nativeMint, programs } from '../../../src/solana/programs.ts';
import {
  anchorData,
  dexes,
  emitEvent,
  executedTransaction,
  type InstructionSpec,
  named,
  scene,
  tokenAccount,
} from './transaction-builder.ts';

const [user, keeper, curve, collector, A, B] = ['user', 'keeper', 'curve', 'collector', 'A', 'B'].map(
  named,
) as [Address, Address, Address, Address, Address, Address];

/** Token accounts named `owner:mint`. */
const tokens: TransactionTokenAccount[] = ['A', 'B', 'C', 'SOL'].flatMap((mint) =>
  ['user', 'keeper', 'pool', 'state', 'collector'].map((owner) =>
    tokenAccount(`${owner}:${mint}`, mint === 'SOL' ? nativeMint : named(mint), named(owner)),
  ),
);

type Given = Parameters<typeof executedTransaction>[1];

const runOf = (specs: string | readonly InstructionSpec[], given: Given = {}) =>
  executedTransaction(typeof specs === 'string' ? scene(specs) : specs, { tokens, ...given });

const swapsOf = (specs: string | readonly InstructionSpec[], given: Given = {}): Swap[] => {
  const run = runOf(specs, given);
  return recognizeSwaps(run, readEvents(run));
};

const names = new Map([
  ...['A', 'B', 'C', 'user', 'keeper'].map((name) => [named(name), name] as const),
  [nativeMint, 'SOL'] as const,
]);

/** `user: A 100 > B 7` for each swap. */
const shown = (swaps: readonly Swap[]): string =>
  swaps
    .map(({ swapper, in: given, out }) => {
      const side = ({ mint, raw }: Swap['in']) => `${names.get(mint)} ${raw}`;
      return `${names.get(swapper)}: ${side(given)} > ${side(out)}`;
    })
    .join(', ');

/** Whirlpool swap of A for B by a trader. */
const whirl = (height: number, given = 100, taken = 7, trader = 'user', taker = 'user'): string => `
  ${height} whirlpool.swap token ${trader} pool; ${height + 1} ${trader}:A>pool:A ${given};
  ${height + 1} pool:B>${taker}:B ${taken};`;

/** CLMM swap of B for C. */
const clmm = (height: number, given = 7, taken = 3, trader = 'user'): string => `
  ${height} clmm.swap ${trader} config state; ${height + 1} ${trader}:B>state:B ${given};
  ${height + 1} state:C>user:C ${taken};`;

const tessera = (height: number, given: string, taken: string): string =>
  `${height} tessera; ${height + 1} ${given}; ${height + 1} ${taken};`;

const router = '1 unknown;';
const apart = 'user: A 1000 > B 500, user: B';
const between = (given: number, moved = ''): string =>
  `${router} ${whirl(2, 1000, 500)} ${moved} ${clmm(2, given)}`;

describe('recognizeSwaps', () => {
  it('describes a swap with its pool and instruction', () => {
    const pool = {
      pool: named('pool'),
      source: 'Orca',
      in: { mint: A, raw: 100n },
      out: { mint: B, raw: 7n },
    };
    expect(swapsOf(whirl(1))).toEqual([
      {
        ...{ index: 0, program: dexes.whirlpool, parentProgram: null, swapper: user },
        ...{ in: pool.in, out: pool.out, pools: [pool], slippagePercent: null, quotedOut: null },
      },
    ]);
  });

  it.each([
    ['tokens that the pool returns', `${whirl(1)} 2 pool:A>user:A 40`, 'user: A 60 > B 7'],
    [
      'a program account as trader',
      `${router} ${whirl(2, 100, 7, 'keeper', 'keeper')}`,
      'keeper: A 100 > B 7',
    ],
    [
      'rent of token accounts, which is not a payment',
      '1 whirlpool.swap token user pool; 2 user$state:B 2039280; 2 user:SOL>state:SOL 100; 2 state:B>user:B 7',
      'user: SOL 100 > B 7',
    ],
    ['a deposit', whirl(1).replace('swap', 'increase_liquidity'), ''],
    ['a pool that returns two tokens', `${whirl(1)} 2 pool:C>user:C 1`, ''],
    ['a pool that returns nothing', whirl(1).split(';').slice(0, 2).join(';'), ''],
    ['swaps in an unknown program, joined', `${router} ${whirl(2)} ${clmm(2)}`, 'user: A 100 > C 3'],
    [
      'a return to the first mint',
      `${router} ${whirl(2)} ${tessera(2, 'user:B>state:B 7', 'state:A>user:A 101')}`,
      'user: A 100 > B 7, user: B 7 > A 101',
    ],
    [
      'two swappers',
      `${router} ${whirl(2)} ${clmm(2, 7, 3, 'keeper')}`,
      'user: A 100 > B 7, keeper: B 7 > C 3',
    ],
    ['swaps without a router', `${whirl(1)} ${clmm(1)}`, 'user: A 100 > B 7, user: B 7 > C 3'],
    ['a remainder', between(100), `${apart} 100 > C 3`],
    ['more than the first swap returned', between(501), `${apart} 501 > C 3`],
    ['a difference without a fee', between(495), `${apart} 495 > C 3`],
    ['a smaller fee than the difference', between(495, '2 user:B>collector:B 4;'), `${apart} 495 > C 3`],
    ['a fee of most of the amount', between(100, '2 user:B>collector:B 400;'), `${apart} 100 > C 3`],
    ['a gain in between', between(501, '2 collector:B>user:B 1;'), `${apart} 501 > C 3`],
    ['a small fee in between', between(495, '2 user:B>collector:B 5;'), 'user: A 1000 > C 3'],
    ['a fee of a tenth', between(450, '2 user:B>collector:B 50;'), 'user: A 1000 > C 3'],
    ['a fee above a tenth', between(449, '2 user:B>collector:B 51;'), `${apart} 449 > C 3`],
    ['a wrapper with its own fee', `1 photon; ${whirl(2)} 2 user:A>collector:A 9`, 'user: A 100 > B 7'],
    [
      'a route through intermediate accounts',
      `1 titan; 2 user:A>keeper:A 100; ${whirl(2, 100, 7, 'keeper', 'keeper')} ${clmm(2, 7, 3, 'keeper')}`,
      'user: A 100 > C 3',
    ],
    ['a route despite rent', `1 titan; 2 user$opened 2039280; ${whirl(2)}`, 'user: A 100 > B 7'],
    [
      'a route that continues where a pool delivered',
      `1 titan; ${whirl(2, 100, 7, 'user', 'keeper')} ${tessera(2, 'keeper:B>state:B 7', 'state:C>user:C 3')}`,
      'user: A 100 > C 3',
    ],
    [
      'a commission in the input token',
      `1 okx.commission_spl_swap; ${whirl(2, 100, 70)} 2 user:A>collector:A 9`,
      'user: A 100 > B 70',
    ],
    ['a router without arguments', `1 okx; ${whirl(2, 100, 70)}`, 'user: A 100 > B 70'],
    ['a pool without a table', tessera(1, 'user:A>state:A 5', 'state:B>user:B 6'), 'user: A 5 > B 6'],
    ['a pool without a table that returns nothing', '1 tessera; 2 user:A>state:A 5', ''],
    ['unknown programs', `${router} 2 user:A>state:A 5; 2 state:B>user:B 6`, ''],
  ])('recognizes %s', (_, specs, expected) => {
    expect(shown(swapsOf(specs))).toBe(expected);
  });

  it.each([
    ['titan', `1 titan; 2 user$opened 9; ${whirl(2)}`, ['Orca']],
    ['photon', `1 photon; ${whirl(2)}`, ['Orca']],
    ['whirlpool', `${router} ${whirl(2)} ${clmm(2)}`, ['Orca', 'Raydium CLMM']],
    ['titan', `1 titan; ${tessera(2, 'user:A>state:A 5', 'state:B>user:B 6')}`, ['Tessera V']],
  ])('attributes a swap to %s', (program, specs, sources) => {
    const [swap] = swapsOf(specs);
    expect(swap?.program).toBe(dexes[program]);
    expect(swap?.pools.map(({ source }) => source)).toEqual(sources);
  });

  it('handles nodes that do not report heights', () => {
    const inner = scene(whirl(1)).map((spec) => ({ ...spec, height: null }));
    const swaps = swapsOf([...scene(router), ...inner, ...scene(clmm(1))]);
    expect(shown(swaps)).toBe('user: A 100 > B 7, user: B 7 > C 3');
  });

  it('takes the sender of the tokens as swapper when another account pays the fee', () => {
    expect(shown(swapsOf(whirl(1), { signers: [named('payer'), user] }))).toBe('user: A 100 > B 7');
    expect(swapsOf(whirl(1), { err: 'Failed' })).toEqual([]);
  });

  const token2022 = (type: string, info: object): InstructionSpec => {
    const parties = { source: named('pool:B'), destination: named('user:B'), mint: B };
    const parsed = { type, info: { ...parties, tokenAmount: { amount: '7' }, ...info } };
    return { ...{ program: programs.token2022, height: 2 }, parsed };
  };

  it('counts Token-2022 transfer fees in the input but not in the output', () => {
    const specs = [...scene(whirl(1)).slice(0, 2)];
    const stated = token2022('transferCheckedWithFee', { feeAmount: { amount: '2' } });
    expect(shown(swapsOf([...specs, stated]))).toBe('user: A 100 > B 5');
    // An unstated fee follows from the balance, unless a second movement makes it inconclusive.
    const after = { tokens: [...tokens, tokenAccount('user:B', B, user, 10n, 16n)] };
    const unstated = token2022('transferChecked', {});
    expect(shown(swapsOf([...specs, unstated], after))).toBe('user: A 100 > B 6');
    const more = scene('1 keeper:B>user:B 1');
    expect(shown(swapsOf([...specs, unstated, ...more], after))).toBe('user: A 100 > B 7');
  });

  it('keeps all token transfers and no other actions besides a swap', () => {
    const run = runOf(`${router} ${whirl(1)} 1 user:C>collector:C 5; 1 user$collector 9`);
    expect(parseEffects(run).actions.map(({ type, ix_index }) => `${ix_index} ${type}`)).toEqual([
      ...['1 SWAP', '2 TOKEN_TRANSFER', '3 TOKEN_TRANSFER', '4 TOKEN_TRANSFER'],
    ]);
  });

  it('falls back to balances without movements', () => {
    const held = [
      tokenAccount('user:A', A, user, 100n, 0n),
      tokenAccount('user:B', B, user, 0n, 7n),
      tokenAccount('user:SOL', nativeMint, user, 5n, 9n),
    ];
    const balances = (after: bigint) => ({
      tokens: held,
      lamports: {
        [user]: [50_000n, after] as const,
        [named('user:B')]: [0n, 2039n] as const,
        [named('user:SOL')]: [9n, 13n] as const,
      },
    });
    // 5000 fee, 2039 rent of the swapper's own account, 4 only wrapped.
    const [swap] = swapsOf('1 clmm.swap', balances(42_957n));
    expect(swap).toMatchObject({ swapper: user, pools: [] });
    expect(shown(swap === undefined ? [] : [swap])).toBe('user: A 100 > B 7');
    expect(swapsOf('1 clmm.open_position', balances(42_957n))).toEqual([]);
    // A tip of 1000, and an account opened for another.
    expect(swapsOf('1 clmm.swap', balances(41_957n))).toEqual([]);
    expect(swapsOf('1 clmm.swap; 1 user$collector 1000', balances(41_957n))).toHaveLength(1);
    const info = { source: user, newAccount: named('state'), lamports: 1000n };
    const opened = { program: programs.system, height: 2, parsed: { type: 'createAccount', info } };
    expect(swapsOf([...scene('1 clmm.swap'), opened], balances(41_957n))).toHaveLength(1);
  });
});

describe('pump.fun curve trade', () => {
  const trade = {
    ...{ mint: A, sol_amount: 1000n, token_amount: 50n, is_buy: true, user, timestamp: 1n },
    ...{ virtual_sol_reserves: 1n, virtual_token_reserves: 1n },
  };
  const reserves = { real_sol_reserves: 1n, real_token_reserves: 1n };
  const fees = {
    ...{ ...reserves, fee_recipient: collector, fee_basis_points: 95n, fee: 9n, creator: keeper },
    ...{ creator_fee_basis_points: 5n, creator_fee: 3n },
  };
  const traded = (name: string, members: object, moved: string): InstructionSpec[] => [
    ...scene(`1 pump.${name} a b A curve c d user; ${moved}`),
    emitEvent(2, dexes.pump as string, 'TradeEvent', { ...trade, ...members }),
  ];
  const sold = { is_buy: false };
  const paidOut = { [user]: [9000n, 9000n - 5000n - 100n + 991n] as const };

  it.each([
    [
      'includes fees but not rent',
      'buy',
      fees,
      '2 user$curve 1000; 2 user$collector 9; 2 user$keeper 890883',
      'user: SOL 1012 > A 50',
    ],
    [
      'uses movements for events without fees',
      'buy',
      {},
      '2 user$curve 1000; 2 user$collector 10',
      'user: SOL 1010 > A 50',
    ],
    [
      'pays the amount after fees',
      'sell',
      { ...fees, ...sold },
      '2 user:A>state:A 50',
      'user: A 50 > SOL 988',
    ],
  ])('%s in %s', (_, name, members, moved, expected) => {
    const swaps = swapsOf(traded(name, members, moved));
    expect(shown(swaps)).toBe(expected);
    expect(swaps[0]?.pools[0]?.pool).toBe(curve);
  });

  it("uses the wallet's gain for events without fees", () => {
    const specs = traded('sell', sold, '2 user:A>state:A 50');
    const tip = scene('1 user$collector 100');
    expect(shown(swapsOf([...specs, ...tip], { lamports: paidOut }))).toBe('user: A 50 > SOL 991');
    expect(shown(swapsOf(specs, { lamports: paidOut }))).toBe('user: A 50 > SOL 891');
    expect(shown(swapsOf(specs))).toBe('user: A 50 > SOL 990');
  });

  it('uses movements when the new pool takes part', () => {
    const more = {
      ...{ user, mint: A, bonding_curve: curve, quote_mint: nativeMint, timestamp: 1n, base_out: 9n },
      ...{ quote_in: 5n, fee_basis_points: 1n, fee: 1n, creator_fee_basis_points: 1n, creator_fee: 1n },
      ...{ buyback_fee: 1n, pool_base_reserves_before: 1n, pool_quote_reserves_before: 1n },
      ...{ pool_base_reserves_after: 1n, pool_quote_reserves_after: 1n },
    };
    const specs = traded('buy_v3', fees, '2 user$curve 1019; 2 state:A>user:A 59');
    const completed = emitEvent(2, dexes.pump as string, 'PostCompleteBuyEvent', more);
    expect(shown(swapsOf([...specs, completed]))).toBe('user: SOL 1019 > A 59');
  });
});

describe('Jupiter route', () => {
  const quote = (bytes: number): Buffer => {
    const tail = Buffer.alloc(18 + bytes);
    tail.writeBigUInt64LE(100n, 0);
    tail.writeBigUInt64LE(70n, 8);
    tail.writeUInt16LE(250, 16);
    return tail;
  };
  const head = (name: string): Buffer => Buffer.from(instructionDiscriminator(name), 'hex');
  const plan = Buffer.from('010000000764000100000000', 'hex');
  const v1 = (name: string): Buffer => Buffer.concat([head(name), plan, quote(1)]);
  const v2 = Buffer.concat([head('route_v2'), quote(4), plan]);
  const expected = { inAmount: 100n, quotedOut: 70n, slippagePercent: 2.5 };

  it.each<[string, Buffer, typeof expected | null]>([
    ['route', v1('route'), expected],
    ['shared_accounts_route', v1('shared_accounts_route'), expected],
    ['route_v2', v2, expected],
    [
      'shared_accounts_route_v2',
      Buffer.concat([head('shared_accounts_route_v2'), Buffer.of(3), quote(4), plan]),
      expected,
    ],
    ...[
      ...['route_with_token_ledger', 'shared_accounts_route_with_token_ledger', 'exact_out_route'],
      ...['shared_accounts_exact_out_route', 'exact_out_route_v2', 'shared_accounts_exact_out_route_v2'],
    ].map((name): [string, Buffer, null] => [name, v1(name), null]),
  ])('%s has its quote if it can be computed correctly', (_, data, found) => {
    expect(readQuote(data)).toEqual(found);
  });

  it('has no quote for truncated data or impossible slippage', () => {
    const whole = Buffer.concat([head('route_v2'), quote(0)]);
    for (let length = 0; length < whole.length; length++)
      expect(readQuote(whole.subarray(0, length))).toBeNull();
    const short = Buffer.concat([head('route'), quote(1)]);
    for (let length = 0; length < 27; length++) expect(readQuote(short.subarray(0, length))).toBeNull();
    whole.writeUInt16LE(10_001, 24);
    expect(readQuote(whole)).toBeNull();
    whole.writeUInt16LE(10_000, 24);
    expect(readQuote(whole)?.slippagePercent).toBe(100);
  });

  const route = (data: Buffer, height = 1): InstructionSpec => ({
    ...{ program: dexes.jupiter as string, height, accounts: [user], data },
  });
  const step = (from: Address, given: bigint, to: Address, taken: bigint, height = 2, amm = dexes.clmm) =>
    emitEvent(height, dexes.jupiter as string, 'SwapEvent', {
      ...{ amm, input_mint: from, input_amount: given, output_mint: to, output_amount: taken },
    });

  it('uses step amounts when SOL moved without a transfer', () => {
    const swaps = swapsOf([
      { ...route(v1('route')), accounts: [programs.token, user] },
      ...scene('2 pump.sell; 3 user:A>state:A 90'),
      step(A, 90n, nativeMint, 55n, 2, dexes.pump),
    ]);
    expect(shown(swaps)).toBe('user: A 90 > SOL 55');
    expect(swaps[0]).toMatchObject({ slippagePercent: 2.5, quotedOut: 70n });
    expect(swaps[0]?.pools).toMatchObject([{ source: 'Pump.fun', pool: null }]);
  });

  it.each([
    [
      'costs at most the quoted input despite rent paid on the way',
      [
        ...scene('2 user$opened 50; 2 user:SOL>state:SOL 100; 2 state:B>user:B 7'),
        step(nativeMint, 100n, B, 7n),
      ],
      'user: SOL 100 > B 7',
    ],
    [
      'that returns to the first mint uses its first and last steps',
      [...scene('2 clmm'), step(A, 100n, B, 7n), ...scene('2 clmm'), step(B, 7n, A, 104n)],
      'user: A 100 > A 104',
    ],
    [
      'excludes steps of nested routes',
      [route(v2, 2), step(A, 1n, B, 2n, 3), ...scene('2 clmm'), step(A, 100n, B, 7n)],
      'user: A 100 > B 7',
    ],
  ])('%s', (_, specs, found) => {
    const swaps = swapsOf([route(v2), ...specs]);
    expect(shown(swaps)).toBe(found);
    expect(swaps).toHaveLength(1);
  });

  it('reads the steps of one event, which names no pools', () => {
    const moved = { input_mint: A, input_amount: 100n, output_mint: B, output_amount: 7n };
    const event = emitEvent(2, dexes.jupiter as string, 'SwapsEvent', { swap_events: [moved] });
    const [swap] = swapsOf([route(v2), ...scene('2 clmm; 2 tessera'), event]);
    expect(shown(swap === undefined ? [] : [swap])).toBe('user: A 100 > B 7');
    expect(swap?.pools).toMatchObject([{ source: '', pool: null }]);
  });

  it('is not a swap without steps', () => {
    const spec = { ...route(v2), data: anchorData('create_token_account') };
    expect(swapsOf([spec])).toEqual([]);
  });
});
