import type { JsonValue } from '../../base/json.ts';
import type { Address } from '../../solana/address.ts';
import type { Signature } from '../../solana/signature.ts';
import { invalidParams } from '../rpc-error.ts';
import {
  at,
  type ContextConfig,
  configObject,
  contextOf,
  positional,
  readAddress,
  readSignature,
} from './parameters.ts';
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
} from './serde.ts';
import { readEncoding, readMaxVersion, type TransactionEncoding } from './transaction-encoding.ts';

/** A method of providers, not of Agave; this is what they have in common. Source: Helius and Triton, their pages. */
export const historyDetails = ['signatures', 'full'] as const;
export const historyStatuses = ['any', 'succeeded', 'failed'] as const;
/** Whether what touched the token accounts of a wallet counts too, or only what changed their balances. */
export const tokenAccountsFilters = ['none', 'balanceChanged', 'all'] as const;

/** Most entries of a page. */
export const historyLimits = { signatures: 1000, full: 100 } as const;

/** Bounds on a value; null for none. */
export type Bounds<T> = Readonly<{ gt: T | null; gte: T | null; lt: T | null; lte: T | null; eq: T | null }>;

/** A transaction's place in the chain. */
export type HistoryPlace = Readonly<{ slot: bigint; index: bigint }>;

export type GetTransactionsForAddressParams = Readonly<{
  address: Address;
  details: (typeof historyDetails)[number];
  order: 'asc' | 'desc';
  limit: number;
  /** The last entry of the page before. */
  after: HistoryPlace | null;
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
function readToken(text: string): HistoryPlace {
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
