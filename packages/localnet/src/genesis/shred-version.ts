import { type Blockhash, blockhashBytes } from '../../../../src/solana/blockhash.ts';

/** From the genesis hash; never 0. Source: agave `compute_shred_version`, without hard forks. */
export function shredVersion(genesisHash: Blockhash): number {
  let folded = 0;
  blockhashBytes(genesisHash).forEach((byte, i) => {
    folded ^= i % 2 === 0 ? byte << 8 : byte;
  });
  return Math.min(folded + 1, 0xffff);
}
