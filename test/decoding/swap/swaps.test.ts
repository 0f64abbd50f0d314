import { describe, expect, it } from 'vitest';
import type { Swap } from '../../../src/decoding/transaction/action.ts';
import { instructionDiscriminator } from '../../../src/decoding/transaction/events/layout.ts';
import { readEvents } from '../../../src/decoding/transaction/events/read-events.ts';
import type {
  ExecutedTransaction,
  TransactionTokenAccount,
} from '../../../src/decoding/transaction/executed-transaction.ts';
import { parseEffects } from '../../../src/decoding/transaction/parse-transaction.ts';
import { readQuote } from '../../../src/decoding/transaction/swap/jupiter-route.ts';
import { recognizeSwaps } from '../../../src/decoding/transaction/swap/recognize-swaps.ts';
import type { Address } from '../../../src/solana/address.ts';
import { nativeMint, programs } from '../../../src/solana/programs.ts';
import {
  anchorData,
  emitEvent,
  executedTransaction,
  type InstructionSpec,
  named,
  pay,
  tokenAccount,
  transfer,
} from './transaction-builder.ts';

const JUPITER = 'JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4';
const OKX = '6m2CDdhRgxpH4WjvdzxAYbGxwdGUz5MziiL5jek2kBma';
const TITAN = 'T1TANpTeScyeqVzzgNViGDNrkQ6qHz9KrSBS4aNXvGT';
const WHIRLPOOL = 'whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc';
const CLMM = 'CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK';
const PUMP = '6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P';
const PHOTON = 'BSfD6SHZigAfDWSjzD5Q41jw8LmKwtmjskPH9XW1mrRW';
const TESSERA = 'TessVdML9pBGgG9yGks7o4HewRaXVAMuoVj4x83GLQH';
const unknown = named('a program that nobody knows');

const [user, keeper, whirlpool, state, collector] = ['user', 'keeper', 'whirlpool', 'state', 'collector'].map(
  named,
) as [Address, Address, Address, Address, Address];
const [A, B, C] = ['A', 'B', 'C'].map(named) as [Address, Address, Address];

/** Token accounts named `owner of account:mint`. */
const tokens: TransactionTokenAccount[] = [
  ...(['A', 'B', 'C'] as const).flatMap((mint) =>
    (['user', 'keeper', 'whirlpool', 'state', 'collector'] as const).map((owner) =>
      tokenAccount(`${owner}:${mint}`, named(mint), named(owner)),
    ),
  ),
  ...['user', 'keeper', 'state', 'collector'].map((owner) =>
    tokenAccount(`${owner}:SOL`, nativeMint, named(owner)),
  ),
];

const scene = (
  said: readonly InstructionSpec[],
  given: Parameters<typeof executedTransaction>[1] = {},
): ExecutedTransaction => executedTransaction(said, { tokens, ...given });

const swapsOf = (run: ExecutedTransaction): Swap[] => recognizeSwaps(run, readEvents(run));

const ends = (swap: Swap) => [swap.in.mint, swap.in.raw, swap.out.mint, swap.out.raw];

/** Whirlpool swap of A for B with its movements. */
const whirlpoolSwap = (
  height: number,
  trader: Address,
  given: bigint,
  taken: bigint,
  taker = 'user',
): InstructionSpec[] => [
  {
    ...{ program: WHIRLPOOL, height, data: anchorData('swap') },
    accounts: [programs.token, trader, whirlpool],
  },
  transfer(height + 1, trader === keeper ? 'keeper:A' : 'user:A', 'whirlpool:A', given),
  transfer(height + 1, 'whirlpool:B', `${taker}:B`, taken),
];

/** CLMM swap of B for C. */
const clmmSwap = (height: number, trader: Address, given: bigint, taken: bigint): InstructionSpec[] => [
  {
    ...{ program: CLMM, height, data: anchorData('swap') },
    accounts: [trader, named('config'), state],
  },
  transfer(height + 1, trader === keeper ? 'keeper:B' : 'user:B', 'state:B', given),
  transfer(height + 1, 'state:C', 'user:C', taken),
];

describe('recognizeSwaps', () => {
  it('sums movements between trader and pool below the pool instruction', () => {
    expect(swapsOf(scene(whirlpoolSwap(1, user, 100n, 7n)))).toEqual([
      {
        ...{ index: 0, program: WHIRLPOOL, parentProgram: null, swapper: user },
        ...{ in: { mint: A, raw: 100n }, out: { mint: B, raw: 7n } },
        pools: [{ pool: whirlpool, source: 'Orca', in: { mint: A, raw: 100n }, out: { mint: B, raw: 7n } }],
        ...{ slippagePercent: null, quotedOut: null },
      },
    ]);
  });

  it('handles nodes that do not report heights', () => {
    const inner = whirlpoolSwap(1, user, 100n, 7n).map((said) => ({ ...said, height: null }));
    const swaps = swapsOf(scene([{ program: unknown, height: 1 }, ...inner, ...clmmSwap(1, user, 7n, 3n)]));
    expect(swaps.map(ends)).toEqual([
      [A, 100n, B, 7n],
      [B, 7n, C, 3n],
    ]);
  });

  it('takes the giver as swapper when another account pays the fee', () => {
    const [swap] = swapsOf(scene(whirlpoolSwap(1, user, 100n, 7n), { signers: [named('payer'), user] }));
    expect(swap?.swapper).toBe(user);
  });

  it('takes a program account as trader when the instruction names it', () => {
    const said = [{ program: unknown, height: 1 }, ...whirlpoolSwap(2, keeper, 100n, 7n, 'keeper')];
    const [swap] = swapsOf(scene(said));
    expect(swap).toMatchObject({ index: 1, program: WHIRLPOOL, parentProgram: unknown, swapper: keeper });
  });

  it('counts Token-2022 transfer fees in the input but not in the output', () => {
    const [swap, paid] = whirlpoolSwap(1, user, 100n, 7n);
    const got: InstructionSpec = {
      ...{ program: programs.token2022, height: 2 },
      parsed: {
        type: 'transferCheckedWithFee',
        info: {
          ...{ source: named('whirlpool:B'), destination: named('user:B'), mint: B },
          ...{ tokenAmount: { amount: '7' }, feeAmount: { amount: '2' } },
        },
      },
    };
    expect(swapsOf(scene([swap, paid, got] as InstructionSpec[])).map(ends)).toEqual([[A, 100n, B, 5n]]);
  });

  it('derives an unstated transfer fee from the balance', () => {
    const [swap, paid] = whirlpoolSwap(1, user, 100n, 7n);
    const got: InstructionSpec = {
      ...{ program: programs.token2022, height: 2 },
      parsed: {
        type: 'transferChecked',
        info: {
          ...{ source: named('whirlpool:B'), destination: named('user:B'), mint: B },
          tokenAmount: { amount: '7' },
        },
      },
    };
    const after = [...tokens, tokenAccount('user:B', B, user, 10n, 16n)];
    const said = [swap, paid, got] as InstructionSpec[];
    expect(swapsOf(scene(said, { tokens: after })).map(ends)).toEqual([[A, 100n, B, 6n]]);
    // A second movement makes the balance inconclusive.
    const more = [...said, transfer(1, 'keeper:B', 'user:B', 1n)];
    expect(swapsOf(scene(more, { tokens: after })).map(ends)).toEqual([[A, 100n, B, 7n]]);
  });

  it('subtracts tokens that the pool returns', () => {
    const back = transfer(2, 'whirlpool:A', 'user:A', 40n);
    expect(swapsOf(scene([...whirlpoolSwap(1, user, 100n, 7n), back])).map(ends)).toEqual([[A, 60n, B, 7n]]);
  });

  it('excludes rent of token accounts', () => {
    const [swap] = whirlpoolSwap(1, user, 100n, 7n);
    const said = [
      swap as InstructionSpec,
      pay(2, user, named('state:B'), 2_039_280n),
      transfer(2, 'user:SOL', 'state:SOL', 100n),
      transfer(2, 'state:B', 'user:B', 7n),
    ];
    expect(swapsOf(scene(said)).map(ends)).toEqual([[nativeMint, 100n, B, 7n]]);
  });

  it('ignores deposits', () => {
    const deposit = whirlpoolSwap(1, user, 100n, 7n);
    const said = [
      { ...(deposit[0] as InstructionSpec), data: anchorData('increase_liquidity') },
      ...deposit.slice(1),
    ];
    expect(swapsOf(scene(said))).toEqual([]);
  });

  it('ignores pools that give two tokens or none', () => {
    const two = [...whirlpoolSwap(1, user, 100n, 7n), transfer(2, 'whirlpool:C', 'user:C', 1n)];
    expect(swapsOf(scene(two))).toEqual([]);
    expect(swapsOf(scene(whirlpoolSwap(1, user, 100n, 7n).slice(0, 2)))).toEqual([]);
  });

  it('joins consecutive swaps in an unknown program into a route', () => {
    const said = [
      { program: unknown, height: 1 },
      ...whirlpoolSwap(2, user, 100n, 7n),
      ...clmmSwap(2, user, 7n, 3n),
    ];
    const swaps = swapsOf(scene(said));
    expect(swaps.map(ends)).toEqual([[A, 100n, C, 3n]]);
    expect(swaps[0]?.pools.map(({ source }) => source)).toEqual(['Orca', 'Raydium CLMM']);
    const around = [
      { program: unknown, height: 1 },
      ...whirlpoolSwap(2, user, 100n, 7n),
      ...[
        { program: TESSERA, height: 2 },
        transfer(3, 'user:B', 'state:B', 7n),
        transfer(3, 'state:A', 'user:A', 101n),
      ],
    ];
    expect(swapsOf(scene(around))).toHaveLength(2);
    const byTwo = [
      { program: unknown, height: 1 },
      ...whirlpoolSwap(2, user, 100n, 7n),
      ...clmmSwap(2, keeper, 7n, 3n),
    ];
    expect(swapsOf(scene(byTwo)).map(({ swapper }) => swapper)).toEqual([user, keeper]);
    const inTwo = [
      ...[{ program: unknown, height: 1 }, ...whirlpoolSwap(2, user, 100n, 7n)],
      ...[{ program: unknown, height: 1 }, ...clmmSwap(2, user, 7n, 3n)],
    ];
    expect(swapsOf(scene(inTwo))).toHaveLength(2);
    const apart = [...whirlpoolSwap(1, user, 100n, 7n), ...clmmSwap(1, user, 7n, 3n)];
    expect(swapsOf(scene(apart))).toHaveLength(2);
  });

  it('separates swaps in an unknown program with a remainder between them', () => {
    const apart = (given: bigint, ...between: InstructionSpec[]) =>
      swapsOf(
        scene([
          { program: unknown, height: 1 },
          ...whirlpoolSwap(2, user, 1000n, 500n),
          ...between,
          ...clmmSwap(2, user, given, 7n),
        ]),
      ).map(ends);
    const two = (given: bigint) => [
      [A, 1000n, B, 500n],
      [B, given, C, 7n],
    ];
    expect(apart(100n)).toEqual(two(100n));
    expect(apart(501n)).toEqual(two(501n));
    // Wrong or excessive differences are no fee.
    expect(apart(495n)).toEqual(two(495n));
    expect(apart(495n, transfer(2, 'user:B', 'collector:B', 4n))).toEqual(two(495n));
    expect(apart(100n, transfer(2, 'user:B', 'collector:B', 400n))).toEqual(two(100n));
    expect(apart(501n, transfer(2, 'collector:B', 'user:B', 1n))).toEqual(two(501n));
  });

  it('joins swaps in an unknown program with a fee between them', () => {
    const charged = (fee: bigint) =>
      swapsOf(
        scene([
          { program: unknown, height: 1 },
          ...whirlpoolSwap(2, user, 1000n, 500n),
          transfer(2, 'user:B', 'collector:B', fee),
          ...clmmSwap(2, user, 500n - fee, 7n),
        ]),
      ).map(ends);
    for (const fee of [5n, 50n]) expect(charged(fee)).toEqual([[A, 1000n, C, 7n]]);
    expect(charged(51n)).toHaveLength(2);
  });

  it('keeps all token transfers and no other actions beside a swap', () => {
    const said = [
      { program: unknown, height: 1 },
      ...whirlpoolSwap(1, user, 100n, 7n),
      transfer(1, 'user:C', 'collector:C', 5n),
      pay(1, user, collector, 9n),
    ];
    expect(parseEffects(scene(said)).actions.map(({ type, ix_index }) => `${ix_index} ${type}`)).toEqual([
      '1 SWAP',
      ...['2 TOKEN_TRANSFER', '3 TOKEN_TRANSFER', '4 TOKEN_TRANSFER'],
    ]);
  });

  it("reports a wrapped swap as the wrapper's, without its fee", () => {
    const said = [
      { program: PHOTON, height: 1 },
      ...whirlpoolSwap(2, user, 100n, 7n),
      transfer(2, 'user:A', 'collector:A', 9n),
    ];
    const [swap] = swapsOf(scene(said));
    expect(swap).toMatchObject({ index: 0, program: PHOTON, parentProgram: null, swapper: user });
    expect(swap && ends(swap)).toEqual([A, 100n, B, 7n]);
  });

  it('follows a route through intermediate accounts', () => {
    const said = [
      { program: TITAN, height: 1 },
      transfer(2, 'user:A', 'keeper:A', 100n),
      ...whirlpoolSwap(2, keeper, 100n, 7n, 'keeper'),
      ...clmmSwap(2, keeper, 7n, 3n),
    ];
    const [swap] = swapsOf(scene(said));
    expect(swap).toMatchObject({ index: 0, program: TITAN, swapper: user });
    expect(swap && ends(swap)).toEqual([A, 100n, C, 3n]);
    expect(swap?.pools.map(({ pool, in: given, out }) => [pool, given.raw, out.raw])).toEqual([
      [whirlpool, 100n, 7n],
      [state, 7n, 3n],
    ]);
  });

  it('follows a route into pools that do not name the trader', () => {
    const said = [
      { program: TITAN, height: 1 },
      transfer(2, 'user:A', 'keeper:A', 100n),
      { program: TESSERA, height: 2 },
      transfer(3, 'keeper:A', 'state:A', 100n),
      transfer(3, 'state:B', 'user:B', 7n),
    ];
    const [swap] = swapsOf(scene(said));
    expect(swap?.pools.map(({ source, in: given }) => [source, given.raw])).toEqual([['Tessera V', 100n]]);
  });

  it('takes the ends of a route despite rent movements', () => {
    const said = [
      { program: TITAN, height: 1 },
      pay(2, user, named('a new account'), 2_039_280n),
      ...whirlpoolSwap(2, user, 100n, 7n),
    ];
    const swaps = swapsOf(scene(said));
    expect(swaps.map(ends)).toEqual([[A, 100n, B, 7n]]);
    expect(swaps[0]?.program).toBe(TITAN);
  });

  it('continues a route where a pool delivered its output', () => {
    const said = [
      { program: TITAN, height: 1 },
      ...whirlpoolSwap(2, user, 100n, 7n, 'keeper'),
      { program: TESSERA, height: 2 },
      transfer(3, 'keeper:B', 'state:B', 7n),
      transfer(3, 'state:C', 'user:C', 3n),
    ];
    const [swap] = swapsOf(scene(said));
    expect(swap && ends(swap)).toEqual([A, 100n, C, 3n]);
    expect(swap?.pools.map(({ source }) => source)).toEqual(['Orca', 'Tessera V']);
  });

  it('excludes the OKX commission on either side', () => {
    const route = (data: Uint8Array, ...charged: InstructionSpec[]) => [
      { program: OKX, height: 1, data },
      ...whirlpoolSwap(2, user, 100n, 70n),
      ...charged,
    ];
    const fromGiven = route(
      anchorData('commission_spl_swap', 100n),
      transfer(2, 'user:A', 'collector:A', 9n),
    );
    const fromTaken = route(
      anchorData('commission_spl_swap', 100n),
      transfer(2, 'user:B', 'collector:B', 9n),
    );
    for (const said of [fromGiven, fromTaken])
      expect(swapsOf(scene(said)).map(ends)).toEqual([[A, 100n, B, 70n]]);
    const cut = route(anchorData('swap').subarray(0, 5));
    expect(swapsOf(scene(cut)).map(ends)).toEqual([[A, 100n, B, 70n]]);
  });

  it('accepts any exchange through pools without a table', () => {
    const said = [
      { program: TESSERA, height: 1 },
      transfer(2, 'user:A', 'state:A', 5n),
      transfer(2, 'state:B', 'user:B', 6n),
    ];
    expect(swapsOf(scene(said)).map(ends)).toEqual([[A, 5n, B, 6n]]);
    expect(swapsOf(scene(said.slice(0, 2)))).toEqual([]);
  });

  it('ignores unknown programs', () => {
    const said = [
      { program: unknown, height: 1 },
      transfer(2, 'user:A', 'state:A', 5n),
      transfer(2, 'state:B', 'user:B', 6n),
    ];
    expect(swapsOf(scene(said))).toEqual([]);
  });

  it('falls back to balances without movements', () => {
    const said = [{ program: CLMM, height: 1, data: anchorData('swap'), accounts: [] }];
    const held = [
      tokenAccount('user:A', A, user, 100n, 0n),
      tokenAccount('user:B', B, user, 0n, 7n),
      tokenAccount('user:SOL', nativeMint, user, 5n, 9n),
    ];
    const lamports = {
      [user]: [50_000n, 42_957n] as const,
      [named('user:B')]: [0n, 2039n] as const,
      [named('user:SOL')]: [9n, 13n] as const,
    };
    // 5000 fee, 2039 rent of the swapper's own account, 4 only wrapped.
    const run = scene(said, { tokens: held, lamports });
    expect(swapsOf(run)).toMatchObject([
      { swapper: user, in: { mint: A, raw: 100n }, out: { mint: B, raw: 7n }, pools: [] },
    ]);
    const tipped = { ...lamports, [user]: [50_000n, 41_957n] as const };
    expect(swapsOf(scene(said, { tokens: held, lamports: tipped }))).toEqual([]);
    const tip = pay(1, user, collector, 1000n);
    expect(swapsOf(scene([...said, tip], { tokens: held, lamports: tipped }))).toHaveLength(1);
    const opened: InstructionSpec = {
      ...{ program: programs.system, height: 2 },
      parsed: { type: 'createAccount', info: { source: user, newAccount: state, lamports: 1000n } },
    };
    expect(swapsOf(scene([...said, opened], { tokens: held, lamports: tipped }))).toHaveLength(1);
  });

  it('requires a swap instruction for the balance fallback', () => {
    const held = [tokenAccount('user:A', A, user, 100n, 0n), tokenAccount('user:B', B, user, 0n, 7n)];
    const lamports = { [user]: [5000n, 0n] as const };
    const said = [{ program: CLMM, height: 1, data: anchorData('open_position'), accounts: [] }];
    expect(swapsOf(scene(said, { tokens: held, lamports }))).toEqual([]);
  });

  it('returns none for a failed transaction', () => {
    expect(swapsOf(scene(whirlpoolSwap(1, user, 100n, 7n), { err: 'Failed' }))).toEqual([]);
  });
});

describe('pump.fun curve trades', () => {
  const curve = named('curve');
  const trade = {
    ...{ mint: A, sol_amount: 1000n, token_amount: 50n, is_buy: true, user, timestamp: 1n },
    ...{
      virtual_sol_reserves: 1n,
      virtual_token_reserves: 1n,
      real_sol_reserves: 1n,
      real_token_reserves: 1n,
    },
  };
  const fees = {
    ...{ fee_recipient: collector, fee_basis_points: 95n, fee: 9n, creator: keeper },
    ...{ creator_fee_basis_points: 5n, creator_fee: 3n },
  };
  const curveTrade = (
    name: string,
    members: Record<string, unknown>,
    ...moved: InstructionSpec[]
  ): InstructionSpec[] => [
    {
      ...{ program: PUMP, height: 1, data: anchorData(name, 1n, 1n) },
      accounts: [collector, collector, A, curve, curve, curve, user],
    },
    ...moved,
    emitEvent(2, PUMP, 'TradeEvent', members),
  ];

  it('include fees but not rent in the cost', () => {
    const paid = [pay(2, user, curve, 1000n), pay(2, user, collector, 9n), pay(2, user, keeper, 890_883n)];
    const swaps = swapsOf(scene(curveTrade('buy', { ...trade, ...fees }, ...paid)));
    expect(swaps.map(ends)).toEqual([[nativeMint, 1012n, A, 50n]]);
    expect(swaps[0]?.pools[0]?.pool).toBe(curve);
  });

  it('use movements for events without fees', () => {
    const paid = [pay(2, user, curve, 1000n), pay(2, user, collector, 10n)];
    expect(swapsOf(scene(curveTrade('buy', trade, ...paid))).map(ends)).toEqual([
      [nativeMint, 1010n, A, 50n],
    ]);
  });

  it('use movements when the new pool takes part', () => {
    const more = {
      ...{
        user,
        mint: A,
        bonding_curve: curve,
        quote_mint: nativeMint,
        timestamp: 1n,
        base_out: 9n,
        quote_in: 5n,
      },
      ...{ fee_basis_points: 1n, fee: 1n, creator_fee_basis_points: 1n, creator_fee: 1n, buyback_fee: 1n },
      ...{ pool_base_reserves_before: 1n, pool_quote_reserves_before: 1n },
      ...{ pool_base_reserves_after: 1n, pool_quote_reserves_after: 1n },
    };
    const said = [
      ...curveTrade(
        'buy_v3',
        { ...trade, ...fees },
        pay(2, user, curve, 1019n),
        transfer(2, 'state:A', 'user:A', 59n),
      ),
      emitEvent(2, PUMP, 'PostCompleteBuyEvent', more),
    ];
    expect(swapsOf(scene(said)).map(ends)).toEqual([[nativeMint, 1019n, A, 59n]]);
  });

  it('pay the amount after fees', () => {
    const sold = [transfer(2, 'user:A', 'state:A', 50n)];
    const swaps = swapsOf(scene(curveTrade('sell', { ...trade, ...fees, is_buy: false }, ...sold)));
    expect(swaps.map(ends)).toEqual([[A, 50n, nativeMint, 988n]]);
  });

  it("use the wallet's gain for events without fees", () => {
    const sold = curveTrade('sell', { ...trade, is_buy: false }, transfer(2, 'user:A', 'state:A', 50n));
    const tip = pay(1, user, collector, 100n);
    const lamports = { [user]: [9000n, 9000n - 5000n - 100n + 991n] as const };
    expect(swapsOf(scene([...sold, tip], { lamports })).map(ends)).toEqual([[A, 50n, nativeMint, 991n]]);
    expect(swapsOf(scene(sold)).map(ends)).toEqual([[A, 50n, nativeMint, 990n]]);
  });
});

describe('Jupiter routes', () => {
  const quoteOf = (data: Uint8Array) => readQuote(data);
  const tail = (bytes: number): Buffer => {
    const quote = Buffer.alloc(18 + bytes);
    quote.writeBigUInt64LE(100n, 0);
    quote.writeBigUInt64LE(70n, 8);
    quote.writeUInt16LE(250, 16);
    return quote;
  };
  const named8 = (name: string): Buffer => Buffer.from(instructionDiscriminator(name), 'hex');
  const plan = Buffer.from('010000000764000100000000', 'hex');
  const expected = { inAmount: 100n, quotedOut: 70n, slippagePercent: 2.5 };

  it.each(['route', 'shared_accounts_route'])('v1 read the quote at the end: %s', (name) => {
    expect(quoteOf(Buffer.concat([named8(name), plan, tail(1)]))).toEqual(expected);
  });

  it('v2 read the quote before the plan', () => {
    expect(quoteOf(Buffer.concat([named8('route_v2'), tail(4), plan]))).toEqual(expected);
    const shared = Buffer.concat([named8('shared_accounts_route_v2'), Buffer.of(3), tail(4), plan]);
    expect(quoteOf(shared)).toEqual(expected);
  });

  it.each([
    ...['route_with_token_ledger', 'shared_accounts_route_with_token_ledger', 'exact_out_route'],
    ...['shared_accounts_exact_out_route', 'exact_out_route_v2', 'shared_accounts_exact_out_route_v2'],
  ])('have no quote where it would be wrong: %s', (name) => {
    expect(quoteOf(Buffer.concat([named8(name), plan, tail(1)]))).toBeNull();
  });

  it('have no quote for truncated data or impossible slippage', () => {
    const whole = Buffer.concat([named8('route_v2'), tail(0)]);
    for (let length = 0; length < whole.length; length++)
      expect(quoteOf(whole.subarray(0, length))).toBeNull();
    for (let length = 0; length < 27; length++) {
      expect(quoteOf(Buffer.concat([named8('route'), tail(1)]).subarray(0, length))).toBeNull();
    }
    whole.writeUInt16LE(10_001, 24);
    expect(quoteOf(whole)).toBeNull();
  });

  it('use step amounts when SOL moved without a transfer', () => {
    const step = { amm: PUMP, input_mint: A, input_amount: 90n, output_mint: nativeMint, output_amount: 55n };
    const said: InstructionSpec[] = [
      {
        ...{ program: JUPITER, height: 1, accounts: [programs.token, user] },
        data: Buffer.concat([named8('route'), plan, tail(1)]),
      },
      { program: PUMP, height: 2, data: anchorData('sell', 1n, 1n), accounts: [] },
      transfer(3, 'user:A', 'state:A', 90n),
      emitEvent(2, JUPITER, 'SwapEvent', step),
    ];
    const [swap] = swapsOf(scene(said));
    expect(swap && ends(swap)).toEqual([A, 90n, nativeMint, 55n]);
    expect(swap).toMatchObject({
      slippagePercent: 2.5,
      quotedOut: 70n,
      pools: [{ source: 'Pump.fun', pool: null }],
    });
  });

  it('cost at most the quoted input despite rent paid on the way', () => {
    const step = { amm: CLMM, input_mint: nativeMint, input_amount: 100n, output_mint: B, output_amount: 7n };
    const said: InstructionSpec[] = [
      {
        program: JUPITER,
        height: 1,
        accounts: [user],
        data: Buffer.concat([named8('route_v2'), tail(4), plan]),
      },
      pay(2, user, named('a new account'), 50n),
      transfer(2, 'user:SOL', 'state:SOL', 100n),
      transfer(2, 'state:B', 'user:B', 7n),
      emitEvent(2, JUPITER, 'SwapEvent', step),
    ];
    expect(swapsOf(scene(said)).map(ends)).toEqual([[nativeMint, 100n, B, 7n]]);
  });

  it('that return to the first mint use their first and last steps', () => {
    const step = (from: Address, given: bigint, to: Address, taken: bigint) => ({
      ...{ amm: CLMM, input_mint: from, input_amount: given, output_mint: to, output_amount: taken },
    });
    const said: InstructionSpec[] = [
      {
        program: JUPITER,
        height: 1,
        accounts: [user],
        data: Buffer.concat([named8('route_v2'), tail(4), plan]),
      },
      { program: CLMM, height: 2 },
      emitEvent(2, JUPITER, 'SwapEvent', step(A, 100n, B, 7n)),
      { program: CLMM, height: 2 },
      emitEvent(2, JUPITER, 'SwapEvent', step(B, 7n, A, 104n)),
    ];
    expect(swapsOf(scene(said)).map(ends)).toEqual([[A, 100n, A, 104n]]);
  });

  it('exclude steps of nested routes', () => {
    const step = (given: bigint, taken: bigint) => ({
      ...{ amm: CLMM, input_mint: A, input_amount: given, output_mint: B, output_amount: taken },
    });
    const route = {
      program: JUPITER,
      accounts: [user],
      data: Buffer.concat([named8('route_v2'), tail(4), plan]),
    };
    const said: InstructionSpec[] = [
      { ...route, height: 1 },
      { ...route, height: 2 },
      emitEvent(3, JUPITER, 'SwapEvent', step(1n, 2n)),
      { program: CLMM, height: 2 },
      emitEvent(2, JUPITER, 'SwapEvent', step(100n, 7n)),
    ];
    expect(swapsOf(scene(said)).map(({ pools }) => pools.map(({ in: given }) => given.raw))).toEqual([
      [100n],
    ]);
  });

  it('without steps are no swaps', () => {
    const said = [
      { program: JUPITER, height: 1, accounts: [user], data: anchorData('create_token_account') },
    ];
    expect(swapsOf(scene(said))).toEqual([]);
  });
});
