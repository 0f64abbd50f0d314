import { describe, expect, it } from 'vitest';
import { key } from '../../../test/streams/ledger-script.ts';
import type { AccountsFilter, SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import { slot } from '../../solana/units.ts';
import { defaultPlanLimits } from '../auth/key-record.ts';
import { checkPlan, extraCallsOf } from './client-stream.ts';

const blocks = (count: number) => ({
  blocks: new Map(Array.from({ length: count }, (_, nth) => [`b${nth}`, {}])),
});

const accounts = (filter: AccountsFilter): SubscribeRequest => ({ accounts: new Map([['a', filter]]) });
const cuckoo = {
  ...{ data: new Uint8Array(8), bucketCount: 1, entriesPerBucket: 4 },
  ...{ fingerprintBits: 16, hashSeed: 0n, hashAlgorithm: 0 },
};

describe('stream request', () => {
  it.each([
    ['grpcFiltersMax', 'filters', 3, blocks(3)],
    ['grpcBlocksMax', 'block filters', 3, blocks(3)],
    ['grpcPubkeysMax', 'Pubkeys', 2, accounts({ account: [key(1), key(2)] })],
    ['grpcCuckooMaxBytes', 'bytes of cuckoo filters', 65_536, accounts({ cuckooAccounts: cuckoo })],
  ])('is limited by %s', (limit, of, count, request) => {
    const limitsAt = (max: number) => ({ ...defaultPlanLimits, [limit]: max });
    expect(() => checkPlan(request, limitsAt(count))).not.toThrow();
    const grpcText = `Max amount of ${of} reached, only ${count - 1} allowed`;
    const rejection = expect.objectContaining({ code: 'FILTER_LIMIT', grpcText });
    expect(() => checkPlan(request, limitsAt(count - 1))).toThrow(rejection);
  });

  it('costs more calls with block filters and with fromSlot', () => {
    expect([extraCallsOf({ slots: new Map([['s', {}]]) }), extraCallsOf(blocks(3))]).toEqual([0, 3]);
    expect([extraCallsOf({ fromSlot: slot(7) }), extraCallsOf({ ...blocks(1), fromSlot: slot(0) })]).toEqual([
      10, 11,
    ]);
  });
});
