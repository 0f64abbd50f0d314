import type { Address } from '../../solana/address.ts';
import { readAddress, readBorsh, readOption } from '../borsh.ts';

/**
 * What an account at a mint's edition address says: the mint is a master, of which prints may be made, or a print.
 * Source: mpl-token-metadata, `state/master_edition.rs`, `state/edition.rs`.
 */
export type MetaplexEdition =
  | Readonly<{ type: 'master'; supply: bigint; maxSupply: bigint | null }>
  | Readonly<{ type: 'print'; parent: Address; edition: bigint }>;

const EDITION_V1 = 1;
const MASTER_EDITION_V1 = 2;
const MASTER_EDITION_V2 = 6;

/** Decodes the data of an account of the metadata program. @returns null when it is no edition. */
export function decodeMetaplexEdition(data: Uint8Array): MetaplexEdition | null {
  return readBorsh(data, (reader) => {
    const key = reader.u8();
    if (key === EDITION_V1) return { type: 'print', parent: readAddress(reader), edition: reader.u64() };
    if (key !== MASTER_EDITION_V1 && key !== MASTER_EDITION_V2) return null;
    return { type: 'master', supply: reader.u64(), maxSupply: readOption(reader, (max) => max.u64()) };
  });
}
