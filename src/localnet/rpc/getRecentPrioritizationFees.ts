import type { JsonValue } from '../../base/json.ts';
import type { Address } from '../../ledger/address.ts';
import type { Block } from '../../ledger/block.ts';
import { allKeys, isWritable } from '../../ledger/message/message-keys.ts';
import { computeBudgetOf } from '../../ledger/transaction/compute-budget.ts';
import { type Slot, slot } from '../../ledger/units.ts';
import {
  type GetRecentPrioritizationFeesResult,
  parseGetRecentPrioritizationFees,
} from '../../protocol/rpc/getRecentPrioritizationFees.ts';
import type { History, LocalNode } from '../node.ts';

/** Source: Agave runtime/src/prioritization_fee_cache.rs, `MAX_NUM_RECENT_BLOCKS`. */
const RECENT_BLOCKS = 150n;

/** The lowest compute unit prices, in micro-lamports, that got into a block. */
type BlockPrices = Readonly<{ lowest: bigint; byWritable: ReadonlyMap<Address, bigint> }>;

/** What was found in recent blocks, by slot. Blocks never change, and reading one may go to the disk. */
const summaries = new WeakMap<History, Map<Slot, BlockPrices>>();

const lower = (known: bigint | undefined, price: bigint): bigint =>
  known === undefined || price < known ? price : known;

function summarize(block: Block): BlockPrices {
  let lowest: bigint | undefined;
  const byWritable = new Map<Address, bigint>();
  for (const { transaction, meta } of block.transactions) {
    const budget = computeBudgetOf(transaction.message);
    // What asks for no compute units says nothing of their price.
    if ('fault' in budget || budget.unitLimit === 0) continue;
    lowest = lower(lowest, budget.unitPrice);
    allKeys(transaction.message, meta.loadedAddresses).forEach((key, index) => {
      if (!isWritable(transaction.message, index, meta.loadedAddresses)) return;
      byWritable.set(key, lower(byWritable.get(key), budget.unitPrice));
    });
  }
  return { lowest: lowest ?? 0n, byWritable };
}

/** The prices of the blocks in `[first, last]`, oldest first. */
function recentPrices(history: History, first: bigint, last: bigint): ReadonlyMap<Slot, BlockPrices> {
  const known = summaries.get(history);
  const prices = new Map<Slot, BlockPrices>();
  for (let at = slot(first); at <= last; at = slot(at + 1n)) {
    const found = known?.get(at) ?? summarizeSlot(history, at);
    if (found !== null) prices.set(at, found);
  }
  summaries.set(history, prices);
  return prices;
}

function summarizeSlot(history: History, at: Slot): BlockPrices | null {
  const block = history.block(at);
  return block === null ? null : summarize(block);
}

/** The highest of the block's own lowest price and those of the accounts. */
function priceFor({ lowest, byWritable }: BlockPrices, accounts: readonly Address[]): bigint {
  return accounts.reduce((highest, account) => {
    const price = byWritable.get(account) ?? 0n;
    return price > highest ? price : highest;
  }, lowest);
}

/**
 * What it took to get into each of the last 150 confirmed blocks, oldest first. A block without transactions
 * took nothing. Source: Agave runtime/src/prioritization_fee_cache.rs.
 */
export function getRecentPrioritizationFees(
  node: LocalNode,
  params: JsonValue | undefined,
): GetRecentPrioritizationFeesResult {
  const { accounts } = parseGetRecentPrioritizationFees(params);
  const last = node.bank('confirmed').slot;
  const first = last < RECENT_BLOCKS ? 0n : last - RECENT_BLOCKS + 1n;
  return Array.from(recentPrices(node.history, first, last), ([at, prices]) => ({
    prioritizationFee: priceFor(prices, accounts),
    slot: at,
  }));
}
