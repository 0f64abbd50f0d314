import { SIGNATURE_BYTES } from '../../src/solana/shred/shred-layout.ts';
import type { Random } from '../fuzz/engine/mutate.ts';

export function invalidShred(packet: Uint8Array, random: Random): Uint8Array {
  const copy = Uint8Array.from(packet);
  const at = 0x60 + (random() % 900);
  copy[at] = (copy[at] as number) ^ (1 + (random() % 255));
  const signed = random() % SIGNATURE_BYTES;
  copy[signed] = (copy[signed] as number) ^ (1 + (random() % 255));
  return copy;
}
