import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Account } from '../../solana/account/account.ts';
import { type Address, addressBytes } from '../../solana/address.ts';
import { programs } from '../../solana/programs.ts';
import { lamports } from '../../solana/units.ts';
import {
  decodeFavourite,
  decodeNameAccount,
  decodeReverseName,
  reverseAccount,
  rootDomain,
  snsPrograms,
} from './name-account.ts';

const account = (data: Uint8Array, owner: Address = snsPrograms.names): Account => ({
  lamports: lamports(1),
  data,
  owner,
  executable: false,
  rentEpoch: 0n,
});

const header = Buffer.concat([addressBytes(rootDomain), addressBytes(programs.token), Buffer.alloc(32)]);

function reverse(text: Buffer | string, length = Buffer.byteLength(text)): Account {
  const count = Buffer.alloc(4);
  count.writeUInt32LE(length);
  return account(Buffer.concat([header, count, Buffer.from(text)]));
}

describe('a name account', () => {
  it('tells its parent, its owner and its class', () => {
    expect(decodeNameAccount(account(header))).toEqual({
      ...{ parent: rootDomain, owner: programs.token, class: programs.system },
      data: Buffer.alloc(0),
    });
  });

  it('belongs to the name service and has a whole header', () => {
    expect(decodeNameAccount(account(header, programs.system))).toBeNull();
    expect(decodeNameAccount(account(header.subarray(1)))).toBeNull();
    expect(decodeNameAccount(undefined)).toBeNull();
  });
});

describe('a reverse account', () => {
  it('tells a name in every script, and that of a subdomain without its mark', () => {
    expect(decodeReverseName(reverse('bonfida'))).toBe('bonfida');
    expect(decodeReverseName(reverse('ü雪🦊'))).toBe('ü雪🦊');
    expect(decodeReverseName(reverse('\0dex'))).toBe('dex');
  });

  it.each([
    ['nothing', reverse('')],
    ['only a mark', reverse('\0')],
    ['more than there is', reverse('abc', 4)],
    ['far more than there is', reverse('abc', 0xffff_ffff)],
    ['no text', reverse(Buffer.from([0xff, 0xfe]))],
  ])('that tells %s tells no name', (_, told) => {
    expect(decodeReverseName(told)).toBeNull();
  });

  it('is another one for a subdomain', () => {
    expect(reverseAccount(programs.token, null)).not.toBe(reverseAccount(programs.token, rootDomain));
  });
});

describe('the account of a favourite', () => {
  it('tells a name account', () => {
    const data = Buffer.concat([Buffer.from([7]), addressBytes(rootDomain)]);
    expect(decodeFavourite(account(data, snsPrograms.offers))).toBe(rootDomain);
    expect(decodeFavourite(account(data))).toBeNull();
    expect(decodeFavourite(account(data.subarray(1), snsPrograms.offers))).toBeNull();
  });
});

describe('accounts of the name service', () => {
  it('are read or not, whatever their bytes', () => {
    const owners = fc.constantFrom(snsPrograms.names, snsPrograms.offers, programs.system);
    const bytes = fc.uint8Array({ maxLength: 200 });
    fc.assert(
      fc.property(bytes, owners, (data, owner) => {
        for (const decode of [decodeNameAccount, decodeReverseName, decodeFavourite])
          decode(account(data, owner));
      }),
    );
  });
});
