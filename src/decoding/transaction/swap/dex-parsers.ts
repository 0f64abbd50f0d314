import type { WritableJson } from '../../../base/json.ts';
import type { Address } from '../../../solana/address.ts';
import { rawAmount, uiAmountOf } from '../../amounts.ts';
import type { ProgramParser, ReadInstruction } from '../action.ts';
import { leadingHex } from '../events/discriminator.ts';
import type { ExecutedTransaction } from '../executed-transaction.ts';
import type { ExecutedInstruction } from '../instruction.ts';
import { dexPrograms, orderPrograms } from './dex-programs.ts';
import { type LiquidityChange, liquidityTables, type PoolCreation } from './liquidity-tables.ts';
import { movementOf } from './movements.ts';

type ParsedActions = ReturnType<ReadInstruction>;

function createdPool(
  { accounts }: ExecutedInstruction,
  { creator, pool, mints, vaults }: PoolCreation,
): ParsedActions {
  const info = {
    pool_creator: accounts[creator],
    liquidity_pool_address: accounts[pool],
    token_mint_one: accounts[mints[0]],
    token_mint_two: accounts[mints[1]],
    token_vault_one: accounts[vaults[0]],
    token_vault_two: accounts[vaults[1]],
  };
  return Object.values(info).includes(undefined) ? null : [{ type: 'CREATE_POOL', info }];
}

/** What an instruction called, by the instructions that ran while it did. */
function calledBy(
  { instructions }: ExecutedTransaction,
  instruction: ExecutedInstruction,
): readonly ExecutedInstruction[] {
  // Instructions that could not be read have a number and no place: none stands behind its own number.
  let first = Math.min(instruction.index, instructions.length - 1);
  while (first > 0 && instructions[first] !== instruction) first--;
  first++;
  const height = instruction.height ?? 1;
  let end = first;
  while (instructions[end]?.outer === instruction.outer && (instructions[end]?.height ?? 2) > height) end++;
  return instructions.slice(first, end);
}

function toTokenAmount(
  mint: Address,
  raw: bigint,
  { decimals }: ExecutedTransaction,
): Record<string, WritableJson> {
  const decimalPlaces = decimals.get(mint);
  return {
    token_address: mint,
    ...(decimalPlaces === undefined ? {} : { amount: uiAmountOf(raw, decimalPlaces) }),
    amount_raw: rawAmount(raw),
  };
}

/** What went between the provider and the pool; the tokens that stand for a share of it are made and burnt, and do not count. */
function changedLiquidity(
  instruction: ExecutedInstruction,
  change: LiquidityChange,
  transaction: ExecutedTransaction,
): ParsedActions {
  const [provider, pool] = [instruction.accounts[change.provider], instruction.accounts[change.pool]];
  if (provider === undefined || pool === undefined) return null;
  const sums = new Map<Address, bigint>();
  for (const called of calledBy(transaction, instruction)) {
    const moved = movementOf(called, transaction);
    if (moved === null || moved.lamports || moved.from === null || moved.to === null) continue;
    if ((change.adds ? moved.from : moved.to) !== provider || moved.from === moved.to) continue;
    sums.set(moved.mint, (sums.get(moved.mint) ?? 0n) + (change.adds ? moved.sent : moved.received));
  }
  if (sums.size === 0) return null;
  const amounts = [...sums].map(([mint, raw]) => toTokenAmount(mint, raw, transaction));
  const info = { liquidity_provider_address: provider, liquidity_pool_address: pool };
  return change.adds
    ? [{ type: 'ADD_LIQUIDITY', info: { ...info, liquidity_added: amounts } }]
    : [{ type: 'REMOVE_LIQUIDITY', info: { ...info, liquidity_removed: amounts } }];
}

/**
 * What an instruction of a program with pools did to a pool, where its own bytes say it. Swaps are told of the
 * transaction as a whole.
 */
const readPoolInstruction: ReadInstruction = (instruction, transaction) => {
  const table = liquidityTables.get(instruction.program);
  for (const which of [leadingHex(instruction.data), leadingHex(instruction.data, 1)]) {
    const creation = table?.creations.get(which);
    if (creation !== undefined) return createdPool(instruction, creation);
    const change = table?.changes.get(which);
    if (change !== undefined) return changedLiquidity(instruction, change, transaction);
  }
  return null;
};

/** Programs that people swap with or place orders with, as the interface names them. */
export const dexParsers: readonly (readonly [Address, ProgramParser])[] = [
  ...[...dexPrograms].map(
    ([program, { protocol }]) => [program, { name: protocol, read: readPoolInstruction }] as const,
  ),
  ...[...orderPrograms].map(([program, name]) => [program, { name, read: readPoolInstruction }] as const),
];
