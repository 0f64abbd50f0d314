import type { Address } from '../../ledger/address.ts';
import type { KnownProgram, Protocol } from './action.ts';
import { nftPrograms } from './nft/nft-programs.ts';
import { basePrograms } from './programs/base-programs.ts';
import { dexKnownPrograms } from './swap/dex-known-programs.ts';

/** Programs that insight knows, by their address. Each family of programs adds its own list. */
export const knownPrograms: ReadonlyMap<Address, KnownProgram> = new Map<Address, KnownProgram>([
  ...basePrograms,
  ...dexKnownPrograms,
  ...nftPrograms,
]);

/** A program as the interface shows it; one that is not known has no name. */
export const protocolOf = (address: Address): Protocol => ({
  address,
  name: knownPrograms.get(address)?.name ?? '',
});
