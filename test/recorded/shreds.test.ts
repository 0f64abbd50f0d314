import { describe, expect, it } from 'vitest';
import { makeFecSet, type SetEnd } from '../../src/solana/shred/make-shreds.ts';
import { parseShred, payloadOf, type Shred } from '../../src/solana/shred/parse-shred.ts';
import { DEMO_VERSION, demoPackets, hasRecordedShreds, legacyPackets } from '../shreds/recorded-shreds.ts';

function parsed(packet: Uint8Array): Shred {
  const shred = parseShred(packet);
  if (typeof shred === 'string') throw new Error(shred);
  return shred;
}

const joined = (shreds: readonly Shred[]): Buffer =>
  Buffer.concat(shreds.map((shred) => (shred.kind === 'data' ? payloadOf(shred) : new Uint8Array())));

describe.skipIf(!hasRecordedShreds)('recorded shreds (../shared/data, shreds)', () => {
  const sets = Array.from({ length: 8 }, (_, i) => demoPackets.slice(i * 64, (i + 1) * 64));

  it.each([0, 1, 2, 3, 4, 5, 6, 7])('set %i is rebuilt byte for byte from its payload', (i) => {
    const shreds = sets[i]!.map(parsed);
    const [first] = shreds;
    const { bytes, layout } = first!;
    const end: SetEnd = i === 7 ? 'slot' : 'nothing';
    const source = {
      slot: first!.slot,
      parentOffset: 0,
      version: DEMO_VERSION,
      fecSetIndex: first!.fecSetIndex,
      chainedRoot: bytes.subarray(layout.bodyEnd, layout.bodyEnd + 32),
      referenceTick: 0,
      sign: () => bytes.subarray(0, 64),
    };
    const { packets } = makeFecSet(source, joined(shreds), end, i === 7);
    packets.forEach((packet, at) => {
      expect(Buffer.from(packet).equals(sets[i]![at]!), `shred ${at}`).toBe(true);
    });
  });

  it('of the legacy variant are read when truncated', () => {
    const shreds = legacyPackets.map(parsed);
    expect(shreds.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(shreds.every(({ layout }) => layout.isLegacy)).toBe(true);
    expect(shreds.at(-1)).toMatchObject({ isLastInSlot: true, isDataComplete: true, parentOffset: 1 });
  });
});
