import type { Address } from '../../solana/address.ts';
import type { ProgramParser, Protocol } from './action.ts';
import { nftPrograms } from './nft/nft-programs.ts';
import { basePrograms } from './programs/base-programs.ts';
import { dexParsers } from './swap/dex-parsers.ts';

export const programParsers: ReadonlyMap<Address, ProgramParser> = new Map<Address, ProgramParser>([
  ...basePrograms,
  ...dexParsers,
  ...nftPrograms,
]);

export const protocolOf = (address: Address): Protocol => ({
  address,
  name: programParsers.get(address)?.name ?? '',
});
