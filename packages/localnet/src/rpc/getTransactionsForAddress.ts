import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import {
  type Bounds,
  type GetTransactionsForAddressParams,
  parseGetTransactionsForAddress,
} from '../../../../src/protocol/rpc/getTransactionsForAddress.ts';
import { filterTransactionNotFound } from '../../../../src/protocol/rpc/history-errors.ts';
import { requireConfirmed } from '../../../../src/protocol/rpc/parameters.ts';
import type { Block } from '../../../../src/solana/block.ts';
import type { Signature } from '../../../../src/solana/signature.ts';
import { memoOf } from '../../../../src/solana/transaction/memo.ts';
import type { Slot } from '../../../../src/solana/units.ts';
import type { AddressHistoryQuery, ChainPlace } from '../history/address-history.ts';
import type { LocalNode } from '../node.ts';
import { bankFor } from './context.ts';
import { fullTransaction } from './getTransaction.ts';

/** Above every index and slot. */
const END = 0x7fff_ffff_ffff_ffffn;

const isAfter = (a: ChainPlace, b: ChainPlace): boolean =>
  a.slot === b.slot ? a.index > b.index : a.slot > b.slot;
const later = (a: ChainPlace, b: ChainPlace): ChainPlace => (isAfter(a, b) ? a : b);
const earlier = (a: ChainPlace, b: ChainPlace): ChainPlace => (isAfter(a, b) ? b : a);

/** Last position before a slot, and first after it. */
const below = (slot: bigint): ChainPlace => ({ slot: slot - 1n, index: END });
const above = (slot: bigint): ChainPlace => ({ slot: slot + 1n, index: -1n });

type Range = Readonly<{ after: ChainPlace; before: ChainPlace }>;

/** Narrows a range by exclusive bounds. */
function narrowed<T>(
  range: Range,
  { gt, gte, lt, lte, eq }: Bounds<T>,
  ends: (
    value: T,
  ) => Readonly<{ before: ChainPlace; after: ChainPlace; first: ChainPlace; last: ChainPlace }>,
): Range {
  let { after, before } = range;
  if (gt !== null) after = later(after, ends(gt).last);
  if (lt !== null) before = earlier(before, ends(lt).first);
  for (const least of [gte, eq]) if (least !== null) after = later(after, ends(least).before);
  for (const most of [lte, eq]) if (most !== null) before = earlier(before, ends(most).after);
  return { after, before };
}

const slotEnds = (slot: bigint) => ({
  before: below(slot),
  after: above(slot),
  first: { slot, index: -1n },
  last: { slot, index: END },
});

/** @throws RpcError -32020 when unknown or not confirmed enough. */
function signatureEnds(node: LocalNode, newest: Slot): (signature: Signature) => ReturnType<typeof slotEnds> {
  return (signature) => {
    const found = node.history.locate(signature);
    if (found === null || found.slot > newest) throw filterTransactionNotFound(signature);
    const place = { slot: found.slot, index: BigInt(found.index) };
    return {
      before: { ...place, index: place.index - 1n },
      after: { ...place, index: place.index + 1n },
      first: place,
      last: place,
    };
  };
}

function queryOf(
  node: LocalNode,
  params: GetTransactionsForAddressParams,
  newest: Slot,
): AddressHistoryQuery {
  const { order, status, tokenAccounts, limit, after: token, blockTime: time } = params;
  let range: Range = { after: { slot: -1n, index: END }, before: above(newest) };
  range = narrowed(range, params.slot, slotEnds);
  range = narrowed(range, params.signature, signatureEnds(node, newest));
  if (token !== null) {
    range =
      order === 'asc'
        ? { ...range, after: later(range.after, token) }
        : { ...range, before: earlier(range.before, token) };
  }
  const least = [time.gt === null ? null : time.gt + 1n, time.gte, time.eq].filter((bound) => bound !== null);
  const most = [time.lt === null ? null : time.lt - 1n, time.lte, time.eq].filter((bound) => bound !== null);
  return {
    ...{ order, status, tokenAccounts, ...range },
    earliest: least.reduce((a, b) => (a > b ? a : b), 0n),
    latest: most.reduce((a, b) => (a < b ? a : b), END),
    // One more shows whether there is another page.
    limit: limit + 1,
  };
}

/** Same form as getSignaturesForAddress. */
function signatureLine(block: Block, index: number, isFinalized: boolean): WritableJson {
  const executed = block.transactions[index];
  return {
    blockTime: block.blockTime,
    confirmationStatus: isFinalized ? 'finalized' : 'confirmed',
    err: executed?.meta.err ?? null,
    memo: executed === undefined ? null : memoOf(executed.transaction.message),
    signature: executed?.transaction.signatures[0] ?? null,
    slot: block.slot,
    transactionIndex: index,
  };
}

/** Filtered and paged; optionally with the wallet's token accounts. */
export function getTransactionsForAddress(node: LocalNode, params: JsonValue | undefined): WritableJson {
  const parsed = parseGetTransactionsForAddress(params);
  requireConfirmed(parsed.config.commitment);
  const newest = bankFor(node, parsed.config).slot;
  const places = node.history.transactionsOf(parsed.address, queryOf(node, parsed, newest));
  const finalized = node.bank('finalized').slot;
  const page = places.slice(0, parsed.limit);
  const data: WritableJson[] = [];
  for (const { slot, index } of page) {
    const block = node.history.block(slot);
    if (block === null) continue;
    data.push(
      parsed.details === 'full'
        ? fullTransaction(block, index, parsed)
        : signatureLine(block, index, slot <= finalized),
    );
  }
  const last = page.at(-1);
  const hasMore = places.length > page.length && last !== undefined;
  return { data, paginationToken: hasMore ? `${last.slot}:${last.index}` : null };
}
