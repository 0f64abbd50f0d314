import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import {
  at,
  type ContextConfig,
  configObject,
  contextOf,
  positional,
  readAddress,
  readSignature,
  requireConfirmed,
} from '../../../../src/protocol/rpc/parameters.ts';
import {
  type JsonObject,
  member,
  optional,
  type Read,
  readObject,
  readString,
  readU64,
  readUsize,
  readVariant,
} from '../../../../src/protocol/rpc/serde.ts';
import { readEncoding, readMaxVersion } from '../../../../src/protocol/rpc/transaction-encoding.ts';
import { invalidParams } from '../../../../src/protocol/rpc-error.ts';
import type { Address } from '../../../../src/solana/address.ts';
import type { Block } from '../../../../src/solana/block.ts';
import type { TransactionEncoding } from '../../../../src/solana/encoding/encodings.ts';
import type { Signature } from '../../../../src/solana/signature.ts';

import { memoOf } from '../../../../src/solana/transaction/memo.ts';
import type { Slot } from '../../../../src/solana/units.ts';
import type { AddressHistoryQuery, ChainPosition } from '../history/address-history.ts';
import type { LocalNode } from '../node.ts';
import { bankFor } from './context.ts';
import { fullTransaction } from './getTransaction.ts';
import { filterTransactionNotFound } from './history-errors.ts';

/** Method of RPC providers, not of Agave; the subset common to all. Source: documentation of Helius and Triton. */
const historyDetails = ['signatures', 'full'] as const;
const historyStatuses = ['any', 'succeeded', 'failed'] as const;
/** Whether to include transactions of the wallet's token accounts: none, all, or those that changed a balance. */
const tokenAccountsFilters = ['none', 'balanceChanged', 'all'] as const;

/** Maximum entries per page. */
const historyLimits = { signatures: 1000, full: 100 } as const;

/** Bounds on a value; null for none. */
type Bounds<T> = Readonly<{ gt: T | null; gte: T | null; lt: T | null; lte: T | null; eq: T | null }>;

/** Position of a transaction in the chain. */
type HistoryPosition = Readonly<{ slot: bigint; index: bigint }>;

type GetTransactionsForAddressParams = Readonly<{
  address: Address;
  details: (typeof historyDetails)[number];
  order: 'asc' | 'desc';
  limit: number;
  /** Last entry of the previous page. */
  after: HistoryPosition | null;
  slot: Bounds<bigint>;
  /** Unix seconds. */
  blockTime: Bounds<bigint>;
  signature: Bounds<Signature>;
  status: (typeof historyStatuses)[number];
  tokenAccounts: (typeof tokenAccountsFilters)[number];
  config: ContextConfig;
  encoding: TransactionEncoding;
  maxVersion: number | null;
}>;

/** @throws RpcError -32602 when the text is not `<slot>:<position>`, both u64. */
function readToken(text: string): HistoryPosition {
  const parts = /^(\d{1,20}):(\d{1,20})$/.exec(text);
  if (parts === null) throw invalidParams('Invalid paginationToken; expected "<slot>:<position>"');
  return { slot: BigInt(parts[1] ?? 0), index: BigInt(parts[2] ?? 0) };
}

function boundsOf<T>(filters: JsonObject, name: string, read: Read<T>): Bounds<T> {
  const bounds = optional(member(filters, name), (value) => readObject(value, 'RangeFilter')) ?? {};
  const bound = (side: string): T | null => optional(member(bounds, side), read);
  return { gt: bound('gt'), gte: bound('gte'), lt: bound('lt'), lte: bound('lte'), eq: bound('eq') };
}

const readSignatureText: Read<Signature> = (value) => readSignature(readString(value));

function filtersOf(config: JsonObject) {
  const filters =
    optional(member(config, 'filters'), (value) => readObject(value, 'TransactionsForAddressFilters')) ?? {};
  return {
    slot: boundsOf(filters, 'slot', readU64),
    blockTime: boundsOf(filters, 'blockTime', readU64),
    signature: boundsOf(filters, 'signature', readSignatureText),
    status: optional(member(filters, 'status'), (name) => readVariant(name, historyStatuses)) ?? 'any',
    tokenAccounts:
      optional(member(filters, 'tokenAccounts'), (name) => readVariant(name, tokenAccountsFilters)) ?? 'none',
  };
}

function limitOf(config: JsonObject, max: number): number {
  const limit = optional(member(config, 'limit'), readUsize) ?? BigInt(max);
  if (limit === 0n || limit > max) throw invalidParams(`Invalid limit; max ${max}`);
  return Number(limit);
}

/**
 * `address, {transactionDetails, sortOrder, limit, paginationToken, filters: {slot, blockTime, signature, status,
 * tokenAccounts}, commitment, minContextSlot, encoding, maxSupportedTransactionVersion}`.
 */
export function parseGetTransactionsForAddress(
  params: JsonValue | undefined,
): GetTransactionsForAddressParams {
  const list = positional(params, 1, 2);
  const text = at(list, 0, readString);
  const config = configObject(list[1], 'RpcTransactionsForAddressConfig');
  const details =
    optional(member(config, 'transactionDetails'), (name) => readVariant(name, historyDetails)) ??
    'signatures';
  const order = optional(member(config, 'sortOrder'), (name) => readVariant(name, ['asc', 'desc'])) ?? 'desc';
  const token = optional(member(config, 'paginationToken'), readString);
  const shown = {
    encoding: readEncoding(member(config, 'encoding')) ?? ('json' as const),
    maxVersion: readMaxVersion(config),
    config: contextOf(config),
  };
  const filters = filtersOf(config);
  return {
    address: readAddress(text),
    ...{ details, order, limit: limitOf(config, historyLimits[details]) },
    after: token === null ? null : readToken(token),
    ...filters,
    ...shown,
  };
}

/** Greater than any index or slot. */
const END = 0x7fff_ffff_ffff_ffffn;

const isAfter = (a: ChainPosition, b: ChainPosition): boolean =>
  a.slot === b.slot ? a.index > b.index : a.slot > b.slot;
const later = (a: ChainPosition, b: ChainPosition): ChainPosition => (isAfter(a, b) ? a : b);
const earlier = (a: ChainPosition, b: ChainPosition): ChainPosition => (isAfter(a, b) ? b : a);

/** Last position before a slot, and first after it. */
const below = (slot: bigint): ChainPosition => ({ slot: slot - 1n, index: END });
const above = (slot: bigint): ChainPosition => ({ slot: slot + 1n, index: -1n });

type Range = Readonly<{ after: ChainPosition; before: ChainPosition }>;

/** Narrows a range by exclusive bounds. */
function narrowRange<T>(
  range: Range,
  { gt, gte, lt, lte, eq }: Bounds<T>,
  ends: (
    value: T,
  ) => Readonly<{ before: ChainPosition; after: ChainPosition; first: ChainPosition; last: ChainPosition }>,
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
    const pagePosition = { slot: found.slot, index: BigInt(found.index) };
    return {
      before: { ...pagePosition, index: pagePosition.index - 1n },
      after: { ...pagePosition, index: pagePosition.index + 1n },
      first: pagePosition,
      last: pagePosition,
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
  range = narrowRange(range, params.slot, slotEnds);
  range = narrowRange(range, params.signature, signatureEnds(node, newest));
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
    // One extra entry shows whether there is another page.
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
