import { metadataProgram } from '../../src/decoding/nft/metaplex-addresses.ts';
import { isDomainMint, nameOfNft } from '../../src/decoding/sns/domains.ts';
import {
  decodeFavourite,
  decodeNameAccount,
  decodeReverseName,
  snsPrograms,
} from '../../src/decoding/sns/name-account.ts';
import type { Account } from '../../src/solana/account/account.ts';
import { programs } from '../../src/solana/programs.ts';
import { lamports } from '../../src/solana/units.ts';

export const from = "programs' accounts, through nodes";
export const covers = ['decoding/sns/name-account.ts', 'decoding/sns/domains.ts'];

const owners = [snsPrograms.names, snsPrograms.offers, programs.token, metadataProgram];

const header = Buffer.alloc(96, 1);

/** A reverse account, that of a favourite, and metadata as far as the name. */
export const seeds: readonly Uint8Array[] = [
  Buffer.concat([header, Buffer.from([3, 0, 0, 0]), Buffer.from('abc')]),
  Buffer.alloc(33, 7),
  Buffer.concat([Buffer.from([4]), Buffer.alloc(64), Buffer.from([4, 0, 0, 0]), Buffer.from('ab\0\0')]),
];

/** Accounts of the name service are read or not, whatever their bytes. */
export function fuzz(data: Uint8Array): boolean {
  const read = owners.flatMap((owner) => {
    const account: Account = { lamports: lamports(1), data, owner, executable: false, rentEpoch: 0n };
    const decoders = [decodeNameAccount, decodeReverseName, decodeFavourite, nameOfNft];
    return [...decoders.map((decode) => decode(account)), isDomainMint(account) || null];
  });
  return read.some((value) => value !== null);
}
