import type { JsonValue } from '../../base/json.ts';

/** What off-chain JSON adds to an NFT. Texts are empty where it does not say. */
export type NftContent = Readonly<{
  image: string;
  animationUrl: string;
  description: string;
  externalUrl: string;
  /** In order; of two with one name the later counts. */
  traits: readonly Readonly<{ trait: string; value: JsonValue }>[];
  files: readonly Readonly<{ uri: string; type: string }>[];
  /** A name and family that nobody has vouched for. */
  collection: Readonly<{ name?: string; family?: string }>;
}>;

/** What off-chain JSON says of an NFT; null when it is no object. */
export function readNftContent(_json: JsonValue): NftContent | null {
  throw new Error('not there yet');
}
