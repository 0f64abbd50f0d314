import type { Address } from '../../solana/address.ts';
import type { ProgramParser, Protocol } from './action.ts';
import { nftPrograms } from './nft/nft-programs.ts';
import { basePrograms } from './programs/base-programs.ts';
import { dexParsers } from './swap/dex-parsers.ts';

/** Programs that insight knows, by their address. Each family of programs adds its own list. */
export const programParsers: ReadonlyMap<Address, ProgramParser> = new Map<Address, ProgramParser>([
  ...basePrograms,
  ...dexParsers,
  ...nftPrograms,
]);

/** A program as the interface shows it; one that is not known has no name. */
export const protocolOf = (address: Address): Protocol => ({
  address,
  name: programParsers.get(address)?.name ?? '',
});
