import { OperatorError } from '../../base/operator-error.ts';
import type { Address } from '../../solana/address.ts';
import type { JsonMembers } from '../../solana/encoding/read-json.ts';
import { addressOf } from '../lenient-json.ts';

export type ListedToken = Readonly<{
  name: string;
  symbol: string;
  image: string;
}>;

export interface TokenList {
  find(mint: Address): ListedToken | null;
}

export const tokenListLimits = {
  /** Maximum UTF-16 code units in the file. Jupiter's verified list has 1.8 million. */
  textMax: 32 * 1024 * 1024,
  tokensMax: 200_000,
  /** UTF-16 code units. */
  nameMax: 128,
  symbolMax: 64,
  imageMax: 2048,
};

/** Invalid token list. The message gives the position but no content. */
export class TokenListError extends OperatorError {
  override readonly name = 'TokenListError';
}

export const noTokenList: TokenList = { find: () => null };

/** URIs that clients can load; lists also contain local paths. */
const IMAGE = /^(https?|ipfs|ar):\/\/[^\s\p{Cc}]+$/u;

const imageOf = (value: unknown, { imageMax }: typeof tokenListLimits): string =>
  typeof value === 'string' && value.length <= imageMax && IMAGE.test(value) ? value : '';

function textOf(value: unknown, lengthMin: number, lengthMax: number, where: string): string {
  const text = typeof value === 'string' ? value.trim() : null;
  if (text !== null && text.length >= lengthMin && text.length <= lengthMax) return text;
  throw new TokenListError(`${where} must be a string of ${lengthMin} to ${lengthMax} characters`);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new TokenListError('the token list is not valid JSON', { cause: error });
  }
}

/**
 * Parses a token list in Jupiter's format: an array of `{ "address", "name", "symbol", "logoURI" }`.
 * @throws TokenListError with the 0-based index of the first invalid entry and the reason.
 */
export function parseTokenList(
  text: string,
  limits: typeof tokenListLimits = tokenListLimits,
): TokenList & Readonly<{ size: number }> {
  if (text.length > limits.textMax) {
    throw new TokenListError(`the token list is longer than ${limits.textMax} characters`);
  }
  const entries = jsonOf(text);
  if (!Array.isArray(entries)) throw new TokenListError('the token list must be a JSON array');
  if (entries.length > limits.tokensMax) {
    throw new TokenListError(`the token list has more than ${limits.tokensMax} tokens`);
  }
  const tokens = new Map<Address, ListedToken>();
  entries.forEach((entry: unknown, index) => {
    const where = `token ${index} of the list`;
    const { address, name, symbol, logoURI } = Object(entry) as JsonMembers;
    const mint = addressOf(address);
    if (mint === null) throw new TokenListError(`${where}: "address" must be 32 bytes in base58`);
    if (tokens.has(mint)) throw new TokenListError(`${where}: duplicate "address"`);
    tokens.set(mint, {
      name: textOf(name, 1, limits.nameMax, `${where}: "name"`),
      symbol: textOf(symbol, 0, limits.symbolMax, `${where}: "symbol"`),
      image: imageOf(logoURI, limits),
    });
  });
  return { size: tokens.size, find: (mint) => tokens.get(mint) ?? null };
}
