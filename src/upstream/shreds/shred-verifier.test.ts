import { expect, it } from 'vitest';
import { addressBytes } from '../../solana/address.ts';
import { Keypair } from '../../solana/ed25519.ts';
import { makeShreds } from '../../solana/shred/make-shreds.ts';
import { parseShred, type Shred } from '../../solana/shred/parse-shred.ts';
import { slot } from '../../solana/units.ts';
import { ShredVerifier } from './shred-verifier.ts';
import { deshredLimits } from './shreds-config.ts';

const leader = Keypair.fromSeed(new Uint8Array(32).fill(5));

const { packets } = makeShreds({
  slot: slot(9),
  parentOffset: 1,
  version: 7,
  referenceTick: 0,
  isLastInSlot: false,
  fecSetIndex: 0,
  chainedRoot: new Uint8Array(32),
  sign: (root) => leader.sign(root),
  entries: new Uint8Array(500),
});

const parsed = (packet: Uint8Array): Shred => {
  const shred = parseShred(packet);
  if (typeof shred === 'string') throw new Error(shred);
  return shred;
};

it('limits the verification of invalid signatures and verifies valid ones afterwards', () => {
  let now = 0;
  let nth = 0;
  const verifier = new ShredVerifier({ ...deshredLimits, invalidSignaturesPerSecondMax: 1_000 }, () => now);
  const verify = (packet: Uint8Array) =>
    verifier.check(parsed(packet), addressBytes(leader.address), undefined).kind;
  const flood = (count: number) => {
    const kinds = { invalidSignature: 0, deferred: 0 } as Record<string, number>;
    for (let i = 0; i < count; i++) {
      const packet = Uint8Array.from(packets[i % packets.length] as Uint8Array);
      new DataView(packet.buffer).setUint32(0, nth++, true);
      const kind = verify(packet);
      kinds[kind] = (kinds[kind] ?? 0) + 1;
    }
    return kinds;
  };
  for (let i = 0; i < 20; i++) expect(verify(packets[i] as Uint8Array)).toBe('first');
  // Half of the 250 ms burst is for claims of a single shred.
  expect(flood(500)).toEqual({ invalidSignature: 126, deferred: 374 });
  expect(verify(packets[0] as Uint8Array)).toBe('deferred');
  expect(verify(packets[1] as Uint8Array)).toBe('first');
  now += 100;
  expect(flood(200)).toEqual({ invalidSignature: 100, deferred: 100 });
  now += 10_000;
  expect(flood(500)).toEqual({ invalidSignature: 126, deferred: 374 });
});
