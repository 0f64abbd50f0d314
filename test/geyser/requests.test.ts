import {
  SubscribeRequest as Published,
  SubscribeDeshredRequest as PublishedDeshred,
} from '@triton-one/yellowstone-grpc';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeSubscribeDeshredRequest } from '../../src/protocol/geyser/subscribe-deshred-request.ts';
import { encodeSubscribeRequest } from '../../src/protocol/geyser/subscribe-request.ts';
import { deshredRequest, request } from './arbitrary-request.ts';
import { oracleDeshredRequest, oracleRequest } from './oracle-request.ts';

describe('a request of a Geyser stream', () => {
  it('is read by the published codec as it was meant', () => {
    fc.assert(
      fc.property(request, (asked) => {
        const read = Published.decode(encodeSubscribeRequest(asked));
        expect(JSON.parse(JSON.stringify(read))).toMatchObject(
          JSON.parse(JSON.stringify(oracleRequest(asked))),
        );
        for (const part of ['accounts', 'slots', 'transactions', 'blocks', 'blocksMeta', 'entry'] as const) {
          expect(Object.keys(read[part])).toEqual(Object.keys(oracleRequest(asked)[part]));
        }
      }),
      { numRuns: 300 },
    );
  });

  it('of the shred stage is read by the published codec as it was meant', () => {
    fc.assert(
      fc.property(deshredRequest, (asked) => {
        const read = PublishedDeshred.decode(encodeSubscribeDeshredRequest(asked));
        const meant = oracleDeshredRequest(asked);
        expect(JSON.parse(JSON.stringify(read))).toMatchObject(JSON.parse(JSON.stringify(meant)));
        expect(Object.keys(read.deshredTransactions)).toEqual(Object.keys(meant.deshredTransactions));
        expect(Object.keys(read.slots)).toEqual(Object.keys(meant.slots));
      }),
    );
  });

  it('asks for token accounts with field 30, which is newer than the published codec', () => {
    const wire = encodeSubscribeRequest({
      transactions: new Map([['a', { tokenAccounts: 'balanceChanged' as const }]]),
    });
    expect(Buffer.from(wire).toString('hex')).toBe('1a080a016112' + '03f00101');
  });

  it('asks with cuckoo filters for transactions and blocks too, which is newer than the published codec', () => {
    const cuckooAccountInclude = {
      data: Uint8Array.of(1, 2),
      bucketCount: 1,
      entriesPerBucket: 4,
      fingerprintBits: 16,
      hashSeed: 9n,
      hashAlgorithm: 0,
    };
    const cuckoo = '0a020102' + '1001' + '1804' + '2010' + '2809';
    const asked = new Map([['a', { cuckooAccountInclude }]]);
    const wires = [
      encodeSubscribeRequest({ transactions: asked }),
      encodeSubscribeRequest({ blocks: asked }),
    ];
    expect(wires.map((wire) => Buffer.from(wire).toString('hex'))).toEqual([
      `1a130a0161120e3a0c${cuckoo}`,
      `22130a0161120e2a0c${cuckoo}`,
    ]);
  });

  it('is nothing at all when it asks for nothing', () => {
    expect(encodeSubscribeRequest({})).toHaveLength(0);
  });
});
