import type { JsonValue } from '../../base/json.ts';
import type { Address } from '../../ledger/address.ts';
import { allKeys, isWritable } from '../../ledger/message/message-keys.ts';
import { computeBudgetOf } from '../../ledger/transaction/compute-budget.ts';
import { type Slot, slot } from '../../ledger/units.ts';
import {
  type GetRecentPrioritizationFeesResult,
  parseGetRecentPrioritizationFees,
} from '../../protocol/rpc/getRecentPrioritizationFees.ts';
import type { Block, LocalNode } from '../node.ts';

/** Source: Agave runtime/src/prioritization_fee_cache.rs, `MAX_NUM_RECENT_BLOCKS`. */
const RECENT_BLOCKS = 150n;

/** The lowest compute unit prices, in micro-lamports, that got into a block. */
type BlockPrices = Readonly<{ lowest: bigint; byWritable: ReadonlyMap<Address, bigint> }>;

const summarized = new WeakMap<Block, BlockPrices>();

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

function pricesOf(block: Block): BlockPrices {
  const known = summarized.get(block);
  if (known !== undefined) return known;
  const prices = summarize(block);
  summarized.set(block, prices);
  return prices;
}

/** The highest of the block's own lowest price and those of the accounts. */
function priceFor(block: Block, accounts: readonly Address[]): bigint {
  const { lowest, byWritable } = pricesOf(block);
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
  const fees: { prioritizationFee: bigint; slot: Slot }[] = [];
  for (let at = first; at <= last; at++) {
    const block = node.history.block(slot(at));
    if (block !== null) fees.push({ prioritizationFee: priceFor(block, accounts), slot: block.slot });
  }
  return fees;
}
