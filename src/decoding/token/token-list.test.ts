import { describe, expect, it } from 'vitest';
import { address } from '../../solana/address.ts';
import { nativeMint } from '../../solana/programs.ts';
import { noTokenList, parseTokenList, TokenListError, tokenListLimits } from './token-list.ts';

const USDC = address('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v');
const entry = {
  address: USDC,
  name: 'USD Coin',
  symbol: 'USDC',
  decimals: 6,
  logoURI: 'https://example.org/usdc.png',
};
const listOf = (...entries: unknown[]): string => JSON.stringify(entries);
const faultOf = (text: string, limits?: typeof tokenListLimits): string => {
  try {
    parseTokenList(text, limits);
  } catch (error) {
    if (error instanceof TokenListError) return error.message;
    throw error;
  }
  return 'none';
};

describe('token list', () => {
  it('finds listed tokens only', () => {
    const list = parseTokenList(listOf(entry, { ...entry, address: nativeMint, name: ' Wrapped SOL ' }));
    expect(list.size).toBe(2);
    expect(list.find(USDC)).toEqual({ name: 'USD Coin', symbol: 'USDC', image: entry.logoURI });
    expect(list.find(nativeMint)?.name).toBe('Wrapped SOL');
    expect(list.find(address('11111111111111111111111111111111'))).toBeNull();
    expect(noTokenList.find(USDC)).toBeNull();
    expect(parseTokenList('[]').size).toBe(0);
  });

  it.each([
    ['a local path', 'file:///C:/Users/one/two.jpg'],
    ['a script', 'javascript:alert(1)'],
    ['none', null],
    ['a number', 7],
    ['a URI with a line break', 'https://example.org/\nx'],
    ['a URI over the length limit', `https://example.org/${'a'.repeat(tokenListLimits.imageMax)}`],
  ])('drops the image for %s', (_what, logoURI) => {
    expect(parseTokenList(listOf({ ...entry, logoURI })).find(USDC)?.image).toBe('');
  });

  it.each([
    ['invalid JSON', '[', 'the token list is not valid JSON'],
    ['an object', '{}', 'the token list must be a JSON array'],
    ['a null entry', '[null]', 'token 0 of the list: "address" must be 32 bytes in base58'],
    ['a string entry', '["name"]', 'token 0 of the list: "address" must be 32 bytes in base58'],
    [
      'an invalid address',
      listOf(entry, { ...entry, address: 'USDC' }),
      'token 1 of the list: "address" must be 32 bytes in base58',
    ],
    [
      'a blank name',
      listOf({ ...entry, name: ' ' }),
      'token 0 of the list: "name" must be a string of 1 to 128 characters',
    ],
    [
      'a long symbol',
      listOf({ ...entry, symbol: 'x'.repeat(65) }),
      'token 0 of the list: "symbol" must be a string of 0 to 64 characters',
    ],
    ['a duplicate address', listOf(entry, entry), 'token 1 of the list: duplicate "address"'],
  ])('rejects the list with the position of %s', (_what, text, fault) => {
    expect(faultOf(text)).toBe(fault);
  });

  it('rejects a list over the size limits', () => {
    expect(faultOf(listOf(entry), { ...tokenListLimits, textMax: 10 })).toBe(
      'the token list is longer than 10 characters',
    );
    expect(faultOf(listOf(entry), { ...tokenListLimits, tokensMax: 0 })).toBe(
      'the token list has more than 0 tokens',
    );
  });
});
