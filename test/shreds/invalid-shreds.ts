import { makeShreds } from '../../src/solana/shred/make-shreds.ts';
import { parseShred } from '../../src/solana/shred/parse-shred.ts';
import { SIGNATURE_BYTES } from '../../src/solana/shred/shred-layout.ts';
import { type Random, randomBytes } from '../fuzz/engine/mutate.ts';
import { someEntries } from './deshred-rig.ts';

export function invalidShred(packet: Uint8Array, random: Random): Uint8Array {
  const copy = Uint8Array.from(packet);
  const at = 0x60 + (random() % 900);
  copy[at] = (copy[at] as number) ^ (1 + (random() % 255));
  const signed = random() % SIGNATURE_BYTES;
  copy[signed] = (copy[signed] as number) ^ (1 + (random() % 255));
  return copy;
}

/**
 * Generates invalid sets at the positions of valid ones, with any number of shreds under one root, and with a new
 * signature each time.
 */
export function invalidSetGenerator(
  packets: readonly Uint8Array[],
  random: Random,
): (shreds: number) => Uint8Array[] {
  const first = new Map<string, Uint8Array[]>();
  for (const packet of packets) {
    const shred = parseShred(packet);
    if (typeof shred === 'string') continue;
    const { slot, fecSetIndex, version } = shred;
    const setKey = `${slot} ${fecSetIndex}`;
    if (first.has(setKey)) continue;
    const { packets: forged } = makeShreds({
      ...{ slot, fecSetIndex, version },
      parentOffset: slot === 0n ? 0 : 1,
      chainedRoot: new Uint8Array(32),
      referenceTick: 0,
      isLastInSlot: false,
      entries: someEntries(20_000, 0xee),
      sign: () => new Uint8Array(SIGNATURE_BYTES),
    });
    first.set(
      setKey,
      forged.slice(0, 64).map((one) => Uint8Array.from(one)),
    );
  }
  const sets = [...first.values()];
  return (shreds) => {
    const signature = randomBytes(random, SIGNATURE_BYTES);
    const set = sets[random() % sets.length] as Uint8Array[];
    const from = random() % (set.length - shreds + 1);
    return set.slice(from, from + shreds).map((packet) => {
      const copy = Uint8Array.from(packet);
      copy.set(signature);
      return copy;
    });
  };
}
