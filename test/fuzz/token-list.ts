import { parseTokenList, TokenListFault } from '../../src/decoding/token/token-list.ts';
import { nativeMint, programs } from '../../src/solana/programs.ts';

export const from = 'the operator';
export const covers = ['decoding/token/token-list.ts'];

const entry = { address: nativeMint, name: 'Wrapped SOL', symbol: 'SOL', logoURI: 'https://a.example/i.png' };

export const seeds = [
  [],
  [entry],
  [entry, { ...entry, address: programs.token, logoURI: null, tags: ['verified'] }],
  [entry, entry],
].map((list) => Buffer.from(JSON.stringify(list)));

/** A file is a list or refused as one, whatever is in it; a list names what it has. */
export function fuzz(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes).toString();
  try {
    const list = parseTokenList(text);
    const entries = JSON.parse(text) as { address: typeof nativeMint }[];
    if (list.size !== entries.length || entries.some(({ address }) => list.find(address) === null)) {
      throw new Error('a token of the list is not in it');
    }
    return true;
  } catch (error) {
    if (!(error instanceof TokenListFault)) throw error;
    return false;
  }
}
