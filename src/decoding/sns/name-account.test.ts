import { describe, expect, it } from 'vitest';
import { account } from '../../../test/streams/ledger-script.ts';
import type { Account } from '../../solana/account/account.ts';
import { type Address, addressBytes } from '../../solana/address.ts';
import { programs } from '../../solana/programs.ts';
import {
  decodeFavorite,
  decodeNameAccount,
  decodeReverseName,
  reverseAccount,
  rootDomain,
  snsPrograms,
} from './name-account.ts';

const accountOf = (data: Uint8Array, owner: Address = snsPrograms.names): Account => account({ data, owner });

const header = Buffer.concat([addressBytes(rootDomain), addressBytes(programs.token), Buffer.alloc(32)]);

function reverse(text: Buffer | string, length = Buffer.byteLength(text)): Account {
  const count = Buffer.alloc(4);
  count.writeUInt32LE(length);
  return accountOf(Buffer.concat([header, count, Buffer.from(text)]));
}

describe('name account', () => {
  it('decodes parent, owner and class', () => {
    expect(decodeNameAccount(accountOf(header))).toEqual({
      ...{ parent: rootDomain, owner: programs.token, class: programs.system },
      data: Buffer.alloc(0),
    });
  });

  it('requires the name program as owner and a whole header', () => {
    expect(decodeNameAccount(accountOf(header, programs.system))).toBeNull();
    expect(decodeNameAccount(accountOf(header.subarray(1)))).toBeNull();
    expect(decodeNameAccount(undefined)).toBeNull();
  });
});

describe('reverse lookup account', () => {
  it('decodes names in any script and removes the subdomain prefix', () => {
    expect(decodeReverseName(reverse('bonfida'))).toBe('bonfida');
    expect(decodeReverseName(reverse('ü雪🦊'))).toBe('ü雪🦊');
    expect(decodeReverseName(reverse('\0dex'))).toBe('dex');
  });

  it.each([
    ['nothing', reverse('')],
    ['only a prefix', reverse('\0')],
    ['length past the end', reverse('abc', 4)],
    ['length far past the end', reverse('abc', 0xffff_ffff)],
    ['invalid UTF-8', reverse(Buffer.from([0xff, 0xfe]))],
  ])('returns null for %s', (_, data) => {
    expect(decodeReverseName(data)).toBeNull();
  });

  it('has a different address for a subdomain', () => {
    expect(reverseAccount(programs.token, null)).not.toBe(reverseAccount(programs.token, rootDomain));
  });
});

it('favorite domain account decodes the name account', () => {
  const data = Buffer.concat([Buffer.from([7]), addressBytes(rootDomain)]);
  expect(decodeFavorite(accountOf(data, snsPrograms.offers))).toBe(rootDomain);
  expect(decodeFavorite(accountOf(data))).toBeNull();
  expect(decodeFavorite(accountOf(data.subarray(1), snsPrograms.offers))).toBeNull();
});
