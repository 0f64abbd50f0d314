import type { RawAccount } from '../../../protocol/geyser/raw-update.ts';
import type { AccountsDataFilter, LamportsComparison } from '../../../protocol/geyser/subscribe-request.ts';
import {
  ACCOUNT_TYPE_OFFSET,
  MULTISIG_BYTES,
  TOKEN_ACCOUNT_BYTES,
} from '../../../solana/token/token-state.ts';
import { InvalidFilter } from './invalid-filter.ts';

type EqualBytes = Readonly<{ at: number; bytes: Uint8Array }>;

/** Equality conditions of a filter, used as an index key. */
export type AccountEqualities = Readonly<{
  /** Ordered by offset; each compares at least one byte. */
  memcmps: readonly EqualBytes[];
  dataSize: number | null;
  lamports: bigint | null;
}>;

const inData = (left: EqualBytes, right: EqualBytes): number =>
  left.at - right.at || left.bytes.length - right.bytes.length;

export function equalitiesOf(filters: readonly AccountsDataFilter[]): AccountEqualities | null {
  const memcmps: EqualBytes[] = [];
  let dataSize: number | null = null;
  let lamports: bigint | null = null;
  for (const filter of filters) {
    if (filter.kind === 'memcmp' && filter.bytes.length > 0)
      // Only offsets beyond any possible data lose precision.
      memcmps.push({ at: Number(filter.offset), bytes: filter.bytes });
    else if (filter.kind === 'dataSize') dataSize = Number(filter.bytes);
    else if (filter.kind === 'lamports' && filter.compare === 'eq') lamports = filter.value;
  }
  if (memcmps.length === 0 && dataSize === null && lamports === null) return null;
  return { memcmps: memcmps.sort(inData), dataSize, lamports };
}

export type AccountDataRule = (account: RawAccount) => boolean;

export const FILTERS_MAX = 4;
export const MEMCMP_BYTES_MAX = 128;

const STATE_AT = 108;
const ACCOUNT_TYPE_ACCOUNT = 2;

/** Source: spl-token-2022 interface, `GenericTokenAccount::valid_account_data`. */
function isTokenAccount({ data }: RawAccount): boolean {
  if (data.length < TOKEN_ACCOUNT_BYTES || data[STATE_AT] === 0) return false;
  if (data.length === TOKEN_ACCOUNT_BYTES) return true;
  return data.length !== MULTISIG_BYTES && data[ACCOUNT_TYPE_OFFSET] === ACCOUNT_TYPE_ACCOUNT;
}

function memcmp(offset: bigint, bytes: Uint8Array): AccountDataRule {
  if (bytes.length > MEMCMP_BYTES_MAX) throw new InvalidFilter('data too large', { field: 'filters.memcmp' });
  // Only offsets beyond any possible data lose precision.
  const at = Number(offset);
  return ({ data }) => {
    if (data.length < at + bytes.length) return false;
    for (let i = 0; i < bytes.length; i++) {
      if (data[at + i] !== bytes[i]) return false;
    }
    return true;
  };
}

const comparisons: Readonly<Record<LamportsComparison, (value: bigint) => AccountDataRule>> = {
  eq: (value) => (account) => account.lamports === value,
  ne: (value) => (account) => account.lamports !== value,
  lt: (value) => (account) => account.lamports < value,
  gt: (value) => (account) => account.lamports > value,
};

function rule(filter: AccountsDataFilter): AccountDataRule {
  switch (filter.kind) {
    case 'memcmp':
      return memcmp(filter.offset, filter.bytes);
    case 'dataSize': {
      const length = Number(filter.bytes);
      return ({ data }) => data.length === length;
    }
    case 'tokenAccountState':
      return isTokenAccount;
    case 'lamports':
      return comparisons[filter.compare](filter.value);
  }
}

/** @throws InvalidFilter with the text of the Yellowstone plugin. */
export function compileAccountData(filters: readonly AccountsDataFilter[]): readonly AccountDataRule[] {
  if (filters.length > FILTERS_MAX) {
    throw new InvalidFilter(`Too many filters provided; max ${FILTERS_MAX}`, { field: 'filters' });
  }
  const rules = filters.map(rule);
  if (filters.filter(({ kind }) => kind === 'dataSize').length > 1)
    throw new InvalidFilter('datasize used more than once', { field: 'filters.datasize' });
  return rules;
}
