import {
  SubscribeRequest as Published,
  SubscribeDeshredRequest as PublishedDeshred,
} from '@triton-one/yellowstone-grpc';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  encodeSubscribeDeshredRequest,
  encodeSubscribeRequest,
} from '../../src/protocol/geyser/subscribe-request.ts';
import { deshredRequest, request } from './arbitrary-request.ts';
import { oracleDeshredRequest, oracleRequest } from './oracle-request.ts';

describe('an encoded request', () => {
  it('is read by the published codec', () => {
    fc.assert(
      fc.property(request, (original) => {
        const read = Published.decode(encodeSubscribeRequest(original));
        expect(JSON.parse(JSON.stringify(read))).toMatchObject(
          JSON.parse(JSON.stringify(oracleRequest(original))),
        );
        for (const part of ['accounts', 'slots', 'transactions', 'blocks', 'blocksMeta', 'entry'] as const) {
          expect(Object.keys(read[part])).toEqual(Object.keys(oracleRequest(original)[part]));
        }
      }),
      { numRuns: 300 },
    );
  });

  it('for SubscribeDeshred is read by the published codec', () => {
    fc.assert(
      fc.property(deshredRequest, (original) => {
        const read = PublishedDeshred.decode(encodeSubscribeDeshredRequest(original));
        const meant = oracleDeshredRequest(original);
        expect(JSON.parse(JSON.stringify(read))).toMatchObject(JSON.parse(JSON.stringify(meant)));
        expect(Object.keys(read.deshredTransactions)).toEqual(Object.keys(meant.deshredTransactions));
        expect(Object.keys(read.slots)).toEqual(Object.keys(meant.slots));
      }),
    );
  });

  it('requests token accounts with field 30, which the published codec lacks', () => {
    const wire = encodeSubscribeRequest({
      transactions: new Map([['a', { tokenAccounts: 'balanceChanged' as const }]]),
    });
    expect(Buffer.from(wire).toString('hex')).toBe('1a080a016112' + '03f00101');
  });

  it('contains cuckoo filters for transactions and blocks, which the published codec lacks', () => {
    const cuckooAccountInclude = {
      data: Uint8Array.of(1, 2),
      bucketCount: 1,
      entriesPerBucket: 4,
      fingerprintBits: 16,
      hashSeed: 9n,
      hashAlgorithm: 0,
    };
    const cuckoo = '0a020102' + '1001' + '1804' + '2010' + '2809';
    const original = new Map([['a', { cuckooAccountInclude }]]);
    const wires = [
      encodeSubscribeRequest({ transactions: original }),
      encodeSubscribeRequest({ blocks: original }),
    ];
    expect(wires.map((wire) => Buffer.from(wire).toString('hex'))).toEqual([
      `1a130a0161120e3a0c${cuckoo}`,
      `22130a0161120e2a0c${cuckoo}`,
    ]);
  });

  it('is empty without filters', () => {
    expect(encodeSubscribeRequest({})).toHaveLength(0);
  });
});
