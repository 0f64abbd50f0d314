import type { JsonValue } from '../../../../src/base/json.ts';
import { limitInputs, positional, readAddress } from '../../../../src/protocol/rpc/parameters.ts';
import { optional, readStrings } from '../../../../src/protocol/rpc/serde.ts';
import type { Address } from '../../../../src/solana/address.ts';
import type { Block } from '../../../../src/solana/block.ts';
import { allKeys, isWritable } from '../../../../src/solana/message/message-keys.ts';
import { computeBudgetOf, priorityFeeOf } from '../../../../src/solana/transaction/compute-budget.ts';
import { isSimpleVote } from '../../../../src/solana/transaction/simple-vote.ts';
import type { Transaction } from '../../../../src/solana/transaction/transaction.ts';
import { type Slot, U64_MAX } from '../../../../src/solana/units.ts';
import type { History, LocalNode } from '../node.ts';

const LOCKED_ACCOUNTS_MAX = 128;

/** `prioritizationFee` in micro-lamports per compute unit. */
type GetRecentPrioritizationFeesResult = readonly Readonly<{
  slot: Slot;
  prioritizationFee: bigint;
}>[];

/** `[addresses]`, at most 128. */
export function parseGetRecentPrioritizationFees(params: JsonValue | undefined) {
  const texts = optional(positional(params, 0, 1)[0], readStrings) ?? [];
  limitInputs(texts, LOCKED_ACCOUNTS_MAX);
  return { accounts: texts.map(readAddress) };
}

/** Source: Agave runtime/src/prioritization_fee_cache.rs, `MAX_NUM_RECENT_BLOCKS`. */
const RECENT_BLOCKS = 150;
/** Maximum slots searched for these blocks; those without a priced transaction are skipped. */
const SLOTS_MAX = 300;
const MICRO_LAMPORTS_PER_LAMPORT = 1_000_000n;

/** Lowest compute unit prices of a block, in micro-lamports. */
type BlockPrices = Readonly<{ lowest: bigint; byWritable: ReadonlyMap<Address, bigint> }>;

/** Prices cached per slot: frozen blocks never change, and reading one may access the disk. */
const summaries = new WeakMap<History, Map<Slot, BlockPrices | null>>();

const lower = (known: bigint | undefined, price: bigint): bigint =>
  known === undefined || price < known ? price : known;

/**
 * Price per compute unit: priority fee divided by the unit limit, rounded down. It may exceed the requested price,
 * because the fee is rounded up to lamports.
 * @returns null for votes, and for transactions without a valid or nonzero unit limit.
 */
function priceOf(transaction: Transaction): bigint | null {
  if (isSimpleVote(transaction)) return null;
  const budget = computeBudgetOf(transaction.message);
  if ('fault' in budget || budget.unitLimit === 0) return null;
  const price = (priorityFeeOf(transaction.message) * MICRO_LAMPORTS_PER_LAMPORT) / BigInt(budget.unitLimit);
  return price <= U64_MAX ? price : 0n;
}

/** @returns null if no transaction has a price. */
function summarize(block: Block): BlockPrices | null {
  let lowest: bigint | undefined;
  const byWritable = new Map<Address, bigint>();
  for (const { transaction, meta } of block.transactions) {
    const price = priceOf(transaction);
    if (price === null) continue;
    lowest = lower(lowest, price);
    allKeys(transaction.message, meta.loadedAddresses).forEach((key, index) => {
      if (!isWritable(transaction.message, index, meta.loadedAddresses)) return;
      byWritable.set(key, lower(byWritable.get(key), price));
    });
  }
  return lowest === undefined ? null : { lowest, byWritable };
}

/** Newest first. */
function recentPrices(history: History, newest: Slot): [Slot, BlockPrices][] {
  const known = summaries.get(history);
  const searched = new Map<Slot, BlockPrices | null>();
  const prices: [Slot, BlockPrices][] = [];
  for (const at of history.slotsInUse(newest, SLOTS_MAX)) {
    if (prices.length === RECENT_BLOCKS) break;
    const before = known?.get(at);
    const found = before === undefined ? summarizeSlot(history, at) : before;
    searched.set(at, found);
    if (found !== null) prices.push([at, found]);
  }
  summaries.set(history, searched);
  return prices;
}

function summarizeSlot(history: History, at: Slot): BlockPrices | null {
  const block = history.block(at);
  return block === null ? null : summarize(block);
}

/** Maximum of the prices of the block and of the accounts. */
function priceFor({ lowest, byWritable }: BlockPrices, accounts: readonly Address[]): bigint {
  return accounts.reduce((highest, account) => {
    const price = byWritable.get(account) ?? 0n;
    return price > highest ? price : highest;
  }, lowest);
}

/**
 * Minimum prices of the last 150 confirmed blocks with transactions, oldest first. Source: Agave
 * runtime/src/prioritization_fee_cache.rs.
 */
export function getRecentPrioritizationFees(
  node: LocalNode,
  params: JsonValue | undefined,
): GetRecentPrioritizationFeesResult {
  const { accounts } = parseGetRecentPrioritizationFees(params);
  return recentPrices(node.history, node.bank('confirmed').slot)
    .reverse()
    .map(([at, prices]) => ({ prioritizationFee: priceFor(prices, accounts), slot: at }));
}
