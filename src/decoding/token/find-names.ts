import { mapTimeSliced } from '../../base/concurrency/time-sliced.ts';
import type { JsonValue } from '../../base/json.ts';
import type { Address } from '../../solana/address.ts';
import { nativeMint, nativeMint2022 } from '../../solana/programs.ts';
import type { NftOffChain } from '../nft/nft.ts';
import { readNftContent } from '../nft/nft-content.ts';
import type { ListedToken, TokenList } from './token-list.ts';
import type { TokenMint } from './token-mint.ts';

/** `isLoading`: the image is still being loaded. */
export type TokenName = ListedToken & Readonly<{ isLoading?: boolean }>;

export type NameSources = Readonly<{ tokenList: TokenList; offChain: NftOffChain }>;

export const namingLimits = {
  /** UTF-16 code units. */
  nameMax: 128,
  symbolMax: 64,
  imageMax: 10_000,
  documentsMax: 500,
};

/** Source: rest-api.md §2.2. */
export const unnamedToken: TokenName = { name: 'Unknown Token', symbol: 'Token', image: '' };

const wrappedSol: TokenName = { name: 'Wrapped SOL', symbol: 'SOL', image: '' };
const natives: ReadonlySet<Address> = new Set([nativeMint, nativeMint2022]);

/** `uri` is the address of the off-chain JSON with the image; null if not needed or not known. */
type TokenNaming = Readonly<{ name: TokenName; uri: string | null }>;

const listedName = (mint: Address, list: TokenList): TokenName | null =>
  list.find(mint) ?? (natives.has(mint) ? wrappedSol : null);

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
 * Names come from the token list, else from metadata, else from `unnamedToken`. Off-chain JSON is read only for images
 * that the list lacks; if the JSON is unavailable or still being loaded, the image stays empty.
 * @param signal - null: does not wait for JSON that is not cached.
 */
export async function findNames(
  tokens: Iterable<Pick<TokenMint, 'address' | 'metadata'>>,
  { tokenList, offChain }: NameSources,
  signal: AbortSignal | null,
): Promise<Map<Address, TokenName>> {
  const namings = new Map([...tokens].map((token) => [token.address, localName(token, tokenList)]));
  const uris = new Set([...namings.values()].flatMap(({ uri }) => uri ?? []));
  const requested = new Set([...uris].slice(0, namingLimits.documentsMax));
  const documents = await offChain.read(requested, signal);
  const named = new Map<Address, TokenName>();
  await mapTimeSliced(namings, ([mint, { name, uri }]) => {
    const image = imageIn(uri === null ? undefined : documents.get(uri));
    const isLoading = uri !== null && requested.has(uri) && !documents.has(uri) && offChain.isLoading(uri);
    named.set(mint, isLoading ? { ...name, isLoading } : image === '' ? name : { ...name, image });
  });
  return named;
}
