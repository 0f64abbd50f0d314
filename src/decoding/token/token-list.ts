import { type Address, parseAddress } from '../../solana/address.ts';

/** A token as a list of known tokens has it. Amounts need no list: only names do. */
export type ListedToken = Readonly<{
  name: string;
  symbol: string;
  /** A URI; empty where the list has none that a client could load. */
  image: string;
}>;

/** Names of tokens that the operator vouches for. */
export interface TokenList {
  find(mint: Address): ListedToken | null;
}

/** What a list of tokens may be. */
export const tokenListLimits = {
  /** UTF-16 code units of the whole file. Jupiter's list of verified tokens has 1.8 million. */
  textMax: 32 * 1024 * 1024,
  tokensMax: 200_000,
  /** UTF-16 code units each. */
  nameMax: 128,
  symbolMax: 64,
  imageMax: 2048,
};

/** A list that cannot be taken. The message says where it is wrong; it holds nothing of what stands there. */
export class TokenListFault extends Error {
  override readonly name = 'TokenListFault';
}

/** A list of no tokens. */
export const noTokenList: TokenList = { find: () => null };

/** Where clients can load an image from; lists also have paths of somebody's own disk. */
const IMAGE = /^(https?|ipfs|ar):\/\/[^\s\p{Cc}]+$/u;

const imageOf = (value: unknown, { imageMax }: typeof tokenListLimits): string =>
  typeof value === 'string' && value.length <= imageMax && IMAGE.test(value) ? value : '';

function textOf(value: unknown, lengthMin: number, lengthMax: number, where: string): string {
  const text = typeof value === 'string' ? value.trim() : null;
  if (text !== null && text.length >= lengthMin && text.length <= lengthMax) return text;
  throw new TokenListFault(`${where} must be text of ${lengthMin} to ${lengthMax} characters`);
}

function addressOf(value: unknown, where: string): Address {
  const parsed = typeof value === 'string' ? parseAddress(value) : { fault: 'Invalid' as const };
  if ('address' in parsed) return parsed.address;
  throw new TokenListFault(`${where}: "address" must be 32 bytes in base58`);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new TokenListFault('the token list is not JSON', { cause: error });
  }
}

/**
 * Reads a list of tokens in the form of Jupiter's: an array of `{ "address", "name", "symbol", "logoURI" }`; other
 * members are passed over. A list with one wrong entry is refused whole, so that nobody trusts half of one. An image
 * that no client could load counts as none.
 *
 * @param text - of the file.
 * @throws TokenListFault, which names the entry, counted from 0, and what it must be.
 */
export function parseTokenList(
  text: string,
  limits: typeof tokenListLimits = tokenListLimits,
): TokenList & Readonly<{ size: number }> {
  if (text.length > limits.textMax) {
    throw new TokenListFault(`the token list is longer than ${limits.textMax} characters`);
  }
  const entries = jsonOf(text);
  if (!Array.isArray(entries)) throw new TokenListFault('the token list must be a JSON array');
  if (entries.length > limits.tokensMax) {
    throw new TokenListFault(`the token list has more than ${limits.tokensMax} tokens`);
  }
  const tokens = new Map<Address, ListedToken>();
  entries.forEach((entry: unknown, index) => {
    const where = `token ${index} of the list`;
    const { address, name, symbol, logoURI } = Object(entry) as Readonly<Record<string, unknown>>;
    const mint = addressOf(address, where);
    if (tokens.has(mint)) throw new TokenListFault(`${where}: its "address" stands in the list before`);
    tokens.set(mint, {
      name: textOf(name, 1, limits.nameMax, `${where}: "name"`),
      // There are tokens without a symbol.
      symbol: textOf(symbol, 0, limits.symbolMax, `${where}: "symbol"`),
      image: imageOf(logoURI, limits),
    });
  });
  return { size: tokens.size, find: (mint) => tokens.get(mint) ?? null };
}
