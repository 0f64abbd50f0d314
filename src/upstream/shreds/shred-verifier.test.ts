import { expect, it } from 'vitest';
import { addressBytes } from '../../ledger/address.ts';
import { Keypair } from '../../ledger/ed25519.ts';
import { makeShreds } from '../../ledger/shred/make-shreds.ts';
import { parseShred, type Shred } from '../../ledger/shred/parse-shred.ts';
import { slot } from '../../ledger/units.ts';
import { FORGED_PER_SECOND_MAX, ShredVerifier } from './shred-verifier.ts';

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

it('looks at so many forged signatures a second only, and goes on with the true ones a moment later', () => {
  let now = 0;
  const verifier = new ShredVerifier(16, () => now);
  const judge = (packet: Uint8Array) =>
    verifier.judge(parsed(packet), addressBytes(leader.address), undefined).kind;
  const flood = (count: number) => {
    const kinds = { forged: 0, unjudged: 0 } as Record<string, number>;
    for (let nth = 0; nth < count; nth++) {
      const packet = Uint8Array.from(packets[0] as Uint8Array);
      new DataView(packet.buffer).setUint32(0, nth, true);
      new DataView(packet.buffer).setUint32(4, now, true);
      const kind = judge(packet);
      kinds[kind] = (kinds[kind] ?? 0) + 1;
    }
    return kinds;
  };
  for (let nth = 0; nth < 20; nth++) expect(judge(packets[nth] as Uint8Array)).toBe('first');
  expect(flood(FORGED_PER_SECOND_MAX + 500)).toEqual({ forged: FORGED_PER_SECOND_MAX, unjudged: 500 });
  expect(judge(packets[0] as Uint8Array)).toBe('unjudged');
  now += 100;
  expect(judge(packets[0] as Uint8Array)).toBe('first');
  const tenth = FORGED_PER_SECOND_MAX / 10;
  expect(flood(tenth + 5)).toEqual({ forged: tenth, unjudged: 5 });
});
