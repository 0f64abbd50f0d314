import { describe, expect, it } from 'vitest';
import type {
  AccountsDataFilter,
  DataSlice,
  SlotsFilter,
  SubscribeRequest,
} from '../../../protocol/geyser/subscribe-request.ts';
import { slotStatuses } from '../../../protocol/geyser/update/slot.ts';
import { GrpcError } from '../../../protocol/grpc/status.ts';
import { compileDeshredFilters, compileFilters } from './compile.ts';

function refusal(compile: () => unknown): [string, string] {
  try {
    compile();
  } catch (error) {
    if (error instanceof GrpcError) return [error.code, error.message];
    throw error;
  }
  throw new Error('it was not refused');
}

const size: AccountsDataFilter = { kind: 'dataSize', bytes: 1n };
const memcmp = (length: number): AccountsDataFilter => ({
  kind: 'memcmp',
  offset: 0n,
  bytes: new Uint8Array(length),
});
const withData = (...filters: AccountsDataFilter[]): SubscribeRequest => ({
  accounts: new Map([['a', { filters }]]),
});
const slices = (...pairs: readonly [bigint, bigint][]): SubscribeRequest => ({
  accountsDataSlice: pairs.map(([offset, length]): DataSlice => ({ offset, length })),
});

describe('filters are rejected', () => {
  it.each<[string, SubscribeRequest]>([
    ['Too many filters provided; max 4', withData(size, memcmp(1), memcmp(1), memcmp(1), memcmp(1))],
    ['data too large', withData(memcmp(129))],
    ['datasize used more than once', withData(size, size)],
    ['failed to create filter: data slices out of order', slices([5n, 1n], [4n, 1n])],
    ['failed to create filter: data slices overlapped', slices([5n, 2n], [6n, 1n])],
    ['oversized filter name (max allowed size 128), found 129', { slots: new Map([['x'.repeat(129), {}]]) }],
    ['oversized filter name (max allowed size 128), found 130', { entry: ['é'.repeat(65)] }],
  ])('with "%s"', (text, request) => {
    expect(refusal(() => compileFilters(request))).toEqual([
      'INVALID_ARGUMENT',
      `failed to create filter: ${text}`,
    ]);
  });

  it('on the shred stage with the name of its stream', () => {
    const request = { deshredTransactions: new Map([['x'.repeat(129), {}]]) };
    expect(refusal(() => compileDeshredFilters(request))).toEqual([
      'INVALID_ARGUMENT',
      'failed to create deshred filter: oversized filter name (max allowed size 128), found 129',
    ]);
  });
});

it('filters at their limits are accepted', () => {
  const filters = [size, memcmp(128), memcmp(0), { kind: 'tokenAccountState' } as const];
  const name = 'x'.repeat(128);
  const request = { accounts: new Map([[name, { filters }]]), ...slices([0n, 4n], [4n, 0n], [4n, 9n]) };
  expect(compileFilters(request).accounts.map((rule) => rule.name)).toEqual([name]);
});

describe('a filter of slots', () => {
  const levels = ['processed', 'confirmed', 'finalized'];

  it.each<[string, SlotsFilter, readonly string[]]>([
    ['the three commitments', {}, levels],
    ['all statuses', { interslotUpdates: true }, slotStatuses],
    ['its own commitment', { filterByCommitment: true }, ['confirmed']],
  ])('passes %s', (_, filter, expected) => {
    const [rule] = compileFilters({ commitment: 'confirmed', slots: new Map([['s', filter]]) }).slots;
    expect(slotStatuses.filter((status) => rule?.passes(status))).toEqual(expected);
  });

  it('passes nothing by commitment on the shred stage, which has none', () => {
    const slots = new Map([['s', { filterByCommitment: true, interslotUpdates: true }]]);
    const [rule] = compileDeshredFilters({ slots }).slots;
    expect(slotStatuses.filter((status) => rule?.passes(status))).toEqual([]);
  });
});
