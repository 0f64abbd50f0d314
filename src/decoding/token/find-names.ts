import { mapTimeSliced } from '../../base/concurrency/time-sliced.ts';
import type { JsonValue } from '../../base/json.ts';
import type { Address } from '../../solana/address.ts';
import { nativeMint, nativeMint2022 } from '../../solana/programs.ts';
import type { NftOffChain } from '../nft/nft.ts';
import { readNftContent } from '../nft/nft-content.ts';
import type { ListedToken, TokenList } from './token-list.ts';
import type { TokenMint } from './token-mint.ts';

/** What people call a token. The image is a URI, empty where nothing names one. */
export type TokenName = ListedToken;

/** Where names come from: what the operator vouches for, and JSON off the chain. */
export type NameSources = Readonly<{ list: TokenList; offChain: NftOffChain }>;

/** How much of what creators write is shown, and looked up, in one answer. */
export const namingLimits = {
  /** UTF-16 code units. */
  nameMax: 128,
  symbolMax: 64,
  /** Images that are whole pictures (`data:`) may be long; longer ones are left out. */
  imageMax: 10_000,
  /** Documents off the chain that are wanted for their images. */
  documentsMax: 500,
};

/** What a token is called that nothing names. Source: rest-api.md §2.2. */
export const unnamedToken: TokenName = { name: 'Unknown Token', symbol: 'Token', image: '' };

/** Wrapped SOL has no metadata on the chain. */
const wrappedSol: TokenName = { name: 'Wrapped SOL', symbol: 'SOL', image: '' };
const natives: ReadonlySet<Address> = new Set([nativeMint, nativeMint2022]);

/** What is known of a name before anything is fetched. `uri`: of the JSON that has the image; null for none. */
type TokenNaming = Readonly<{ name: TokenName; uri: string | null }>;

/** What the list says of a mint, which the operator vouches for. */
const listedName = (mint: Address, list: TokenList): TokenName | null =>
  list.find(mint) ?? (natives.has(mint) ? wrappedSol : null);

/** Whether the name of a mint is known whole without its metadata. */
export function isNamed(mint: Address, list: TokenList): boolean {
  const listed = listedName(mint, list);
  return listed !== null && (listed.image !== '' || natives.has(mint));
}

const cut = (text: string, lengthMax: number): string => text.slice(0, lengthMax).toWellFormed().trim();

function localName(
  { address: mint, metadata }: Pick<TokenMint, 'address' | 'metadata'>,
  list: TokenList,
): TokenNaming {
  const name = listedName(mint, list) ?? {
    name: cut(metadata?.name ?? '', namingLimits.nameMax) || unnamedToken.name,
    symbol: cut(metadata?.symbol ?? '', namingLimits.symbolMax) || unnamedToken.symbol,
    image: '',
  };
  return { name, uri: name.image === '' && metadata?.metadataUri ? metadata.metadataUri : null };
}

function imageIn(document: JsonValue | undefined): string {
  const image = document === undefined ? '' : (readNftContent(document)?.image ?? '');
  return image.length <= namingLimits.imageMax ? image : '';
}

/**
 * Names tokens: by the list of known tokens, else by their metadata, else by words that say that nothing is known. JSON
 * off the chain is read for images alone, of tokens for which the list has none.
 *
 * @param signal - ends the reading of JSON; what was not there by then has no image.
 * @returns the name of each, by mint.
 */
export async function findNames(
  tokens: Iterable<Pick<TokenMint, 'address' | 'metadata'>>,
  { list, offChain }: NameSources,
  signal: AbortSignal,
): Promise<Map<Address, TokenName>> {
  const namings = new Map([...tokens].map((token) => [token.address, localName(token, list)]));
  const uris = new Set([...namings.values()].flatMap(({ uri }) => uri ?? []));
  const requested = [...uris].slice(0, namingLimits.documentsMax);
  const documents = await offChain.read(requested, signal);
  const named = new Map<Address, TokenName>();
  await mapTimeSliced(namings, ([mint, { name, uri }]) => {
    const image = imageIn(uri === null ? undefined : documents.get(uri));
    named.set(mint, image === '' ? name : { ...name, image });
  });
  return named;
}
