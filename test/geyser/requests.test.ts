import { describe, expect, it } from 'vitest';
import { encodeSubscribeRequest } from '../../src/protocol/geyser/subscribe-request.ts';

describe('an encoded request', () => {
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
});
