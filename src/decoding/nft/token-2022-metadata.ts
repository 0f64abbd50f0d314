import type { Address } from '../../solana/address.ts';
import { parseExtension } from '../../solana/parsed/account/token-extension.ts';

/** What a Token-2022 mint says of itself. Source: spl-token-metadata-interface, spl-token-group-interface. */
export type Token2022Metadata = Readonly<{
  updateAuthority: Address | null;
  name: string;
  symbol: string;
  uri: string;
  additionalMetadata: readonly (readonly [name: string, value: string])[];
  /** The mint of the group that it is a member of. */
  group: Address | null;
}>;

const TOKEN_METADATA = 19;
const TOKEN_GROUP_MEMBER = 23;

/**
 * Reads the data of a mint of Token-2022.
 * @returns null when it has no metadata of its own.
 */
export function readToken2022Metadata(data: Uint8Array): Token2022Metadata | null {
  const { state } = parseExtension(data, TOKEN_METADATA, 'mint');
  if (state === undefined) return null;
  const member = parseExtension(data, TOKEN_GROUP_MEMBER, 'mint').state as { group: Address } | undefined;
  return { ...(state as unknown as Omit<Token2022Metadata, 'group'>), group: member?.group ?? null };
}
