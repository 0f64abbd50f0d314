import type { Address } from '../../../solana/address.ts';
import { rawAmount, tokensOf } from '../../amounts.ts';
import { appPrograms } from '../../program-addresses.ts';
import type { ProgramParser, ReadInstruction } from '../action.ts';
import { leadingHex, parsePositions } from '../events/layout.ts';
import type { ExecutedInstruction, ExecutedTransaction } from '../executed-transaction.ts';
import { dexPrograms, orderPrograms } from './dex-programs.ts';
import { movementOf } from './movements.ts';

/** Account positions. The second mint and the second vault are each one position after the first. */
type PoolCreation = Readonly<{ creator: number; pool: number; mint: number; vault: number }>;

type LiquidityChange = Readonly<{ provider: number; pool: number; adds: boolean }>;

type LiquidityTable = Readonly<{
  creations: ReadonlyMap<string, PoolCreation>;
  changes: ReadonlyMap<string, LiquidityChange>;
}>;

/**
 * Rows for `parsePositions`: creator, pool, first mint and first vault in `creates`; provider and pool in `adds` and
 * `removes`. Source: the programs' IDLs and source code.
 */
const liquidityRows: Readonly<
  Partial<Record<keyof typeof appPrograms, Readonly<{ creates?: string; adds?: string; removes?: string }>>>
> = {
  raydiumV4: {
    creates: '1 17 4 8 10',
    adds: '3 12 1',
    removes: '4 16 1',
  },
  raydiumClmm: {
    creates: 'create_pool 0 2 3 5',
    adds: `
      open_position 0 5, open_position_v2 0 5, open_position_with_token22_nft 0 4,
      increase_liquidity 0 2, increase_liquidity_v2 0 2
    `,
    removes: 'decrease_liquidity 0 3, decrease_liquidity_v2 0 3',
  },
  raydiumCpmm: {
    creates: 'initialize 0 3 4 10',
    adds: 'deposit 0 2',
    removes: 'withdraw 0 2',
  },
  whirlpools: {
    creates: 'initialize_pool 3 4 1 5, initialize_pool_v2 5 6 1 7',
    adds: 'increase_liquidity 2 0, increase_liquidity_v2 4 0',
    removes: 'decrease_liquidity 2 0, decrease_liquidity_v2 4 0',
  },
  meteoraDlmm: {
    creates: `
      initialize_lb_pair 8 0 2 4, initialize_lb_pair2 8 0 2 4,
      initialize_customizable_permissionless_lb_pair 8 0 2 4,
      initialize_customizable_permissionless_lb_pair2 8 0 2 4
    `,
    adds: `
      add_liquidity 11 1, add_liquidity2 9 1, add_liquidity_by_strategy 11 1,
      add_liquidity_by_strategy2 9 1, add_liquidity_by_strategy_one_side 8 1,
      add_liquidity_by_weight 11 1, add_liquidity_by_weight2 9 1, add_liquidity_one_side 8 1,
      add_liquidity_one_side_precise 8 1, add_liquidity_one_side_precise2 6 1
    `,
    removes: `
      remove_liquidity 11 1, remove_liquidity2 9 1, remove_liquidity_by_range 11 1,
      remove_liquidity_by_range2 9 1
    `,
  },
  meteoraDammV2: {
    creates: `
      initialize_pool 0 6 8 10, initialize_customizable_pool 0 5 7 9,
      initialize_pool_with_dynamic_config 0 7 9 11
    `,
    adds: 'add_liquidity 9 0',
    removes: 'remove_liquidity 10 1, remove_all_liquidity 10 1',
  },
  meteoraDammV1: {
    adds: 'add_balance_liquidity 13 0, add_imbalance_liquidity 13 0, bootstrap_liquidity 13 0',
    removes: 'remove_balance_liquidity 13 0, remove_liquidity_single_side 12 0',
  },
  meteoraDbc: {
    creates: `
      initialize_virtual_pool_with_spl_token 2 5 3 6,
      initialize_virtual_pool_with_token2022 2 5 3 6
    `,
  },
  pumpAmm: {
    creates: 'create_pool 2 0 3 9',
    adds: 'deposit 2 0',
    removes: 'withdraw 2 0',
  },
};

const changesOf = (rows: string | undefined, adds: boolean) =>
  parsePositions(rows ?? '').map(
    ([key, [provider, pool]]) => [key, { provider, pool, adds } as LiquidityChange] as const,
  );

const creationsOf = (rows: string | undefined) =>
  parsePositions(rows ?? '').map(
    ([key, [creator, pool, mint, vault]]) => [key, { creator, pool, mint, vault } as PoolCreation] as const,
  );

export const liquidityTables: ReadonlyMap<Address, LiquidityTable> = new Map(
  Object.entries(liquidityRows).map(([program, { creates, adds, removes }]) => [
    appPrograms[program as keyof typeof appPrograms],
    {
      creations: new Map(creationsOf(creates)),
      changes: new Map([...changesOf(adds, true), ...changesOf(removes, false)]),
    },
  ]),
);

function calledBy(
  { instructions }: ExecutedTransaction,
  instruction: ExecutedInstruction,
): readonly ExecutedInstruction[] {
  // Unreadable instructions have an index but no entry, so an entry's position is never above its index.
  let first = Math.min(instruction.index, instructions.length - 1);
  while (first > 0 && instructions[first] !== instruction) first--;
  first++;
  const height = instruction.height ?? 1;
  let end = first;
  while (instructions[end]?.outer === instruction.outer && (instructions[end]?.height ?? 2) > height) end++;
  return instructions.slice(first, end);
}

function createPool({ creator, pool, mint, vault }: PoolCreation, { accounts }: ExecutedInstruction) {
  const info = {
    pool_creator: accounts[creator],
    liquidity_pool_address: accounts[pool],
    token_mint_one: accounts[mint],
    token_mint_two: accounts[mint + 1],
    token_vault_one: accounts[vault],
    token_vault_two: accounts[vault + 1],
  };
  return Object.values(info).includes(undefined) ? null : [{ type: 'CREATE_POOL', info }];
}

/** Sums transfers between provider and pool; minted and burnt LP tokens do not count. */
function changeLiquidity(
  { provider: providerAt, pool: poolAt, adds }: LiquidityChange,
  instruction: ExecutedInstruction,
  transaction: ExecutedTransaction,
) {
  const [provider, pool] = [instruction.accounts[providerAt], instruction.accounts[poolAt]];
  if (provider === undefined || pool === undefined) return null;
  const sums = new Map<Address, bigint>();
  for (const called of calledBy(transaction, instruction)) {
    const moved = movementOf(called, transaction);
    if (moved === null || moved.lamports || moved.from === null || moved.to === null) continue;
    if ((adds ? moved.from : moved.to) !== provider || moved.from === moved.to) continue;
    sums.set(moved.mint, (sums.get(moved.mint) ?? 0n) + (adds ? moved.sent : moved.received));
  }
  if (sums.size === 0) return null;
  const amounts = [...sums].map(([mint, raw]) => {
    const amount = tokensOf(transaction.decimals, mint, raw);
    return { token_address: mint, ...(amount !== null && { amount }), amount_raw: rawAmount(raw) };
  });
  const info = { liquidity_provider_address: provider, liquidity_pool_address: pool };
  return adds
    ? [{ type: 'ADD_LIQUIDITY', info: { ...info, liquidity_added: amounts } }]
    : [{ type: 'REMOVE_LIQUIDITY', info: { ...info, liquidity_removed: amounts } }];
}

const readPoolInstruction: ReadInstruction = (instruction, transaction) => {
  const table = liquidityTables.get(instruction.program);
  for (const which of [leadingHex(instruction.data), leadingHex(instruction.data, 1)]) {
    const creation = table?.creations.get(which);
    if (creation !== undefined) return createPool(creation, instruction);
    const change = table?.changes.get(which);
    if (change !== undefined) return changeLiquidity(change, instruction, transaction);
  }
  return null;
};

export const dexParsers: readonly (readonly [Address, ProgramParser])[] = [
  ...[...dexPrograms].map(
    ([program, { protocol }]) => [program, { name: protocol, read: readPoolInstruction }] as const,
  ),
  ...[...orderPrograms].map(([program, name]) => [program, { name, read: readPoolInstruction }] as const),
];
