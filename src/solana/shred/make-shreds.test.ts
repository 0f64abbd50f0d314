import { describe, expect, it } from 'vitest';
import { addressBytes } from '../address.ts';
import { Keypair, verify } from '../ed25519.ts';
import { slot } from '../units.ts';
import { fecSetCapacity, makeFecSet, makeShreds } from './make-shreds.ts';
import { type DataShred, parseShred, payloadOf, type Shred } from './parse-shred.ts';
import { merkleRoot } from './proven-nodes.ts';

const leader = Keypair.fromSeed(new Uint8Array(32).fill(7));
const genesis = new Uint8Array(32).fill(9);
const source = {
  slot: slot(5),
  parentOffset: 2,
  version: 77,
  fecSetIndex: 0,
  chainedRoot: genesis,
  referenceTick: 3,
  sign: (root: Uint8Array) => leader.sign(root),
};

const bytesOf = (length: number): Uint8Array =>
  Uint8Array.from({ length }, (_, i) => (i * 31 + (i >> 8)) & 0xff);

function parsed(packet: Uint8Array): Shred {
  const shred = parseShred(packet);
  if (typeof shred === 'string') throw new Error(shred);
  return shred;
}

const isData = (shred: Shred): shred is DataShred => shred.kind === 'data';

describe('makeShreds', () => {
  it.each([0, 1, 962, 963, 964, 28_768, 28_769, 30_816, 30_817, 59_584, 59_585, 100_000])(
    'carries %i bytes inside and at the end of a slot',
    (length) => {
      const entries = bytesOf(length);
      for (const isLastInSlot of [false, true]) {
        const { packets } = makeShreds({ ...source, entries, isLastInSlot });
        const data = packets.map(parsed).filter(isData);
        expect(Buffer.concat(data.map(payloadOf)).equals(entries)).toBe(true);
        expect(data.map(({ index }) => index)).toEqual(data.map((_, i) => i));
        expect(data.map((shred) => shred.isDataComplete)).toEqual(data.map((_, i) => i === data.length - 1));
        expect(data.at(-1)?.isLastInSlot).toBe(isLastInSlot);
      }
    },
  );

  it('makes signed, proven and chained sets', () => {
    const { packets, chainedRoot, fecSetIndex } = makeShreds({
      ...source,
      entries: bytesOf(70_000),
      isLastInSlot: true,
    });
    let before = genesis;
    for (let at = 0; at < packets.length; at += 64) {
      const set = packets.slice(at, at + 64).map(parsed);
      const root = merkleRoot(set[0]!)!;
      expect(set.every((shred) => Buffer.from(merkleRoot(shred)!).equals(root))).toBe(true);
      expect(
        set.every(({ bytes, layout }) =>
          Buffer.from(bytes.subarray(layout.bodyEnd, layout.bodyEnd + 32)).equals(before),
        ),
      ).toBe(true);
      expect(verify(set[0]!.bytes.subarray(0, 64), root, addressBytes(leader.address))).toBe(true);
      before = Buffer.from(root);
    }
    expect(Buffer.from(chainedRoot).equals(before)).toBe(true);
    expect(fecSetIndex).toBe(packets.length / 2);
  });

  it('leaves space for a retransmitter only in the last set of a slot', () => {
    const resigned = (isLastInSlot: boolean) =>
      makeShreds({ ...source, entries: bytesOf(70_000), isLastInSlot })
        .packets.map(parsed)
        .map(({ layout }) => layout.isResigned);
    expect(resigned(false)).not.toContain(true);
    expect(resigned(true).slice(0, -64)).not.toContain(true);
    expect(resigned(true).slice(-64)).not.toContain(false);
  });

  it('rejects values that do not fit into a shred', () => {
    const make = (changed: Partial<typeof source>) => () =>
      makeShreds({ ...source, ...changed, entries: new Uint8Array(), isLastInSlot: false });
    expect(make({ parentOffset: 0 })).toThrow(RangeError);
    expect(make({ parentOffset: 6 })).toThrow(RangeError);
    expect(make({ fecSetIndex: 32_768 })).toThrow(RangeError);
    expect(make({ chainedRoot: new Uint8Array(20) })).toThrow(RangeError);
    expect(() => makeFecSet(source, bytesOf(fecSetCapacity(true) + 1), 'data', true)).toThrow(RangeError);
    expect(make({ fecSetIndex: 32_768 - 32 })).not.toThrow();
  });
});
