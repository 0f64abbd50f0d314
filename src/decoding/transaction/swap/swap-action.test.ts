import { describe, expect, it } from 'vitest';
import { parseJson, type WritableJson, writeJson } from '../../../base/json.ts';
import { type Address, address } from '../../../solana/address.ts';
import { encodeBase58 } from '../../../solana/base58.ts';
import { nativeMint } from '../../../solana/programs.ts';
import type { TokenName } from '../../token/find-names.ts';
import type { Action, Swap } from '../action.ts';
import type { ExecutedTransaction } from '../executed-transaction.ts';
import { mintsToName, nameTokens } from '../name-tokens.ts';
import { swapAction } from './swap-action.ts';

const key = (fill: number): Address => encodeBase58(new Uint8Array(32).fill(fill)) as Address;
const COIN = key(1);
const [SWAPPER, POOL] = [key(2), key(3)];
const JUPITER = address('JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4');

const transaction = {
  decimals: new Map([
    [nativeMint, 9],
    [COIN, 6],
  ]),
} as unknown as ExecutedTransaction;

const gave = { mint: nativeMint, raw: 1_500_000_000n };
const got = { mint: COIN, raw: 9_007_199_254_740_993n };

const swap: Swap = {
  ...{ index: 4, program: JUPITER, parentProgram: null, swapper: SWAPPER, in: gave, out: got },
  pools: [{ pool: POOL, source: 'Raydium', in: gave, out: got }],
  ...{ slippagePercent: null, quotedOut: null },
};

const shown = (action: Action) => parseJson(writeJson(action as WritableJson)) as unknown as Action;

const nameOf = (name: string): TokenName => ({
  name,
  symbol: name.toUpperCase(),
  image: `https://x/${name}`,
});

const named = (given: Swap, names: [Address, TokenName][]): Action => {
  const [action] = nameTokens([swapAction(given, transaction)], new Map(names));
  return shown(action as Action);
};

describe('swap action', () => {
  it('has the members of the interface and every digit of raw amounts', () => {
    const [sol, coin] = [nameOf('sol'), nameOf('coin')];
    const side = (token_address: Address, of: TokenName, amount: number, amount_raw: number | bigint) => ({
      ...{ token_address, name: of.name, symbol: of.symbol, image_uri: of.image, amount, amount_raw },
    });
    const [into, out] = [
      side(nativeMint, sol, 1.5, 1_500_000_000),
      side(COIN, coin, 9_007_199_254.740993, 9_007_199_254_740_993n),
    ];
    expect(
      named(swap, [
        [nativeMint, sol],
        [COIN, coin],
      ]),
    ).toEqual({
      info: {
        swapper: SWAPPER,
        tokens_swapped: { in: into, out },
        swaps: [{ liquidity_pool_address: POOL, name: 'SOL-COIN', source: 'Raydium', in: into, out }],
        slippage_in_percent: null,
        quoted_out_amount: null,
        slippage_paid: null,
      },
      source_protocol: { address: JUPITER, name: 'JUPITER_V_6' },
      type: 'SWAP',
      ix_index: 4,
    });
  });

  it('leaves unknown token and pool names empty', () => {
    const { info } = named(swap, [[nativeMint, nameOf('sol')]]) as { info: Record<string, unknown> };
    expect(info.tokens_swapped).toMatchObject({
      in: { name: 'sol', symbol: 'SOL', image_uri: 'https://x/sol' },
      out: { name: '', symbol: '', image_uri: '' },
    });
    expect(info.swaps).toMatchObject([{ name: '', in: { symbol: 'SOL' }, out: { symbol: '' } }]);
  });

  it.each([
    [9_007_199_254_741_000n, 7e-6],
    [9_007_199_254_740_993n, 0],
    [9_007_199_254_740_000n, -0.000993],
  ])('reports the quote %s and the slippage paid', (quotedOut, slippage_paid) => {
    const { info } = shown(swapAction({ ...swap, quotedOut, slippagePercent: 0.5 }, transaction));
    expect(info).toMatchObject({ slippage_in_percent: 0.5, slippage_paid });
    expect(String(info.quoted_out_amount)).toBe(String(quotedOut));
  });

  it('has no token amount for a mint with unknown decimals', () => {
    const strange = { mint: key(9), raw: 5n };
    const { info } = shown(swapAction({ ...swap, out: strange, quotedOut: 7n }, transaction));
    expect(info.tokens_swapped).toMatchObject({ out: { amount: null, amount_raw: 5 } });
    expect(info).toMatchObject({ quoted_out_amount: 7, slippage_paid: null });
  });

  it('names the parent program', () => {
    const inner = swapAction({ ...swap, parentProgram: POOL }, transaction);
    expect(Object.keys(inner).join()).toBe('info,source_protocol,type,parent_protocol,ix_index');
    expect(inner.parent_protocol).toBe(POOL);
  });
});

describe('token naming', () => {
  const action = (type: string, info: Action['info']): Action => ({
    ...{ info, source_protocol: { address: JUPITER, name: '' }, type, ix_index: 0 },
  });
  const unnamed = { token_address: COIN, name: '', symbol: '', image_uri: '', amount: 1 };

  it('covers swaps and liquidity, each mint once', () => {
    const actions = [
      swapAction(swap, transaction),
      action('ADD_LIQUIDITY', { liquidity_added: [unnamed, { ...unnamed, token_address: key(8) }] }),
    ];
    expect([...mintsToName(actions)]).toEqual([nativeMint, COIN, key(8)]);
    const [, added] = nameTokens(actions, new Map([[COIN, nameOf('coin')]]));
    expect(added?.info.liquidity_added).toMatchObject([{ name: 'coin' }, { name: '' }]);
  });

  it('keeps existing names', () => {
    const actions = [action('COLLECT_REWARD', { reward: { ...unnamed, symbol: 'MINE' } })];
    expect(nameTokens(actions, new Map([[COIN, nameOf('coin')]]))).toEqual(actions);
  });

  it("ignores info that comes from a program's own text", () => {
    const actions = [
      action('MEMO', { message: 'x', ...unnamed }),
      action('SWAP', { in: { ...unnamed, token_address: 'nowhere' } }),
    ];
    expect(mintsToName(actions).size).toBe(0);
    expect(nameTokens(actions, new Map([[COIN, nameOf('coin')]]))).toEqual(actions);
  });
});
