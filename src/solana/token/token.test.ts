import { AccountLayout, AccountState, AccountType, MintLayout, MultisigLayout } from '@solana/spl-token';
import { PublicKey } from '@solana/web3.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findExtension, LAST_EXTENSION_TYPE, readExtensions } from './extensions.ts';
import { decodeMint, decodeMultisig, decodeTokenAccount, isTokenAccount } from './token-state.ts';

const u64 = fc.bigInt(0n, 2n ** 64n - 1n);
const key = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => new PublicKey(bytes));
const option = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });

const defaultKey = PublicKey.default;

const anyAccount = fc.record({
  mint: key,
  owner: key,
  amount: u64,
  delegate: option(key),
  frozen: fc.boolean(),
  isNative: option(u64),
  delegatedAmount: u64,
  closeAuthority: option(key),
});
type RawAccount = typeof anyAccount extends fc.Arbitrary<infer T> ? T : never;

function layOut(raw: RawAccount): Uint8Array {
  const data = new Uint8Array(AccountLayout.span);
  AccountLayout.encode(
    {
      mint: raw.mint,
      owner: raw.owner,
      amount: raw.amount,
      delegateOption: raw.delegate === null ? 0 : 1,
      delegate: raw.delegate ?? defaultKey,
      state: raw.frozen ? AccountState.Frozen : AccountState.Initialized,
      isNativeOption: raw.isNative === null ? 0 : 1,
      isNative: raw.isNative ?? 0n,
      delegatedAmount: raw.delegatedAmount,
      closeAuthorityOption: raw.closeAuthority === null ? 0 : 1,
      closeAuthority: raw.closeAuthority ?? defaultKey,
    },
    data,
  );
  return data;
}

const plain = (): Uint8Array => layOut(fc.sample(anyAccount, 1)[0]!);

const extended = (base: Uint8Array, type: AccountType, tail: readonly number[]): Uint8Array =>
  Uint8Array.from([...base, ...new Uint8Array(165 - base.length), type, ...tail]);

describe('token account', () => {
  it('matches spl-token', () => {
    fc.assert(
      fc.property(anyAccount, (raw) => {
        expect(decodeTokenAccount(layOut(raw))).toEqual({
          mint: raw.mint.toBase58(),
          owner: raw.owner.toBase58(),
          amount: raw.amount,
          delegate: raw.delegate?.toBase58() ?? null,
          state: raw.frozen ? 'frozen' : 'initialized',
          isNative: raw.isNative,
          delegatedAmount: raw.delegatedAmount,
          closeAuthority: raw.closeAuthority?.toBase58() ?? null,
        });
      }),
    );
  });

  it('rejects mints, multisigs, uninitialized accounts and other sizes', () => {
    expect(decodeTokenAccount(extended(plain(), AccountType.Mint, []))).toBeNull();
    expect(decodeTokenAccount(plain().subarray(1))).toBeNull();
    expect(decodeTokenAccount(new Uint8Array(165))).toBeNull();
    expect(isTokenAccount(new Uint8Array(0))).toBe(false);
    const multisigSized = extended(plain(), AccountType.Account, Array(355 - 166).fill(0));
    expect(multisigSized).toHaveLength(355);
    expect(decodeTokenAccount(multisigSized)).toBeNull();
  });

  it('rejects an invalid option tag', () => {
    for (const at of [72, 109, 129]) {
      const data = plain();
      data[at] = 2;
      expect(decodeTokenAccount(data)).toBeNull();
    }
  });
});

describe('mint', () => {
  const anyMint = fc.record({
    mintAuthority: option(key),
    supply: u64,
    decimals: fc.nat(255),
    freezeAuthority: option(key),
  });

  function layOutMint(raw: typeof anyMint extends fc.Arbitrary<infer T> ? T : never): Uint8Array {
    const data = new Uint8Array(MintLayout.span);
    MintLayout.encode(
      {
        mintAuthorityOption: raw.mintAuthority === null ? 0 : 1,
        mintAuthority: raw.mintAuthority ?? defaultKey,
        supply: raw.supply,
        decimals: raw.decimals,
        isInitialized: true,
        freezeAuthorityOption: raw.freezeAuthority === null ? 0 : 1,
        freezeAuthority: raw.freezeAuthority ?? defaultKey,
      },
      data,
    );
    return data;
  }

  it('matches spl-token with and without extensions', () => {
    fc.assert(
      fc.property(anyMint, (raw) => {
        const expected = {
          mintAuthority: raw.mintAuthority?.toBase58() ?? null,
          supply: raw.supply,
          decimals: raw.decimals,
          freezeAuthority: raw.freezeAuthority?.toBase58() ?? null,
        };
        const data = layOutMint(raw);
        expect(decodeMint(data)).toEqual(expected);
        expect(decodeMint(extended(data, AccountType.Mint, [9, 0, 0, 0]))).toEqual(expected);
        expect(decodeMint(extended(data, AccountType.Account, []))).toBeNull();
      }),
    );
  });

  it('requires zero padding before the type', () => {
    const data = extended(layOutMint(fc.sample(anyMint, 1)[0]!), AccountType.Mint, []);
    data[100] = 1;
    expect(decodeMint(data)).toBeNull();
  });

  it('requires initialization', () => {
    expect(decodeMint(new Uint8Array(82))).toBeNull();
  });
});

describe('multisig', () => {
  it('matches spl-token', () => {
    const signers = fc.sample(key, 3);
    const data = new Uint8Array(MultisigLayout.span);
    const fields = Object.fromEntries(
      Array.from({ length: 11 }, (_, at) => [`signer${at + 1}`, signers[at] ?? defaultKey]),
    );
    MultisigLayout.encode({ m: 2, n: 3, isInitialized: true, ...fields } as never, data);
    expect(decodeMultisig(data)).toEqual({
      numRequiredSigners: 2,
      numValidSigners: 3,
      signers: signers.map((signer) => signer.toBase58()),
    });
  });

  it('requires initialization and its size', () => {
    expect(decodeMultisig(new Uint8Array(355))).toBeNull();
    expect(decodeMultisig(new Uint8Array(165))).toBeNull();
  });
});

describe('extensions', () => {
  const of = (...tail: number[]) => readExtensions(extended(plain(), AccountType.Account, tail));

  it('end at unused space or a leftover byte', () => {
    expect(of(7, 0, 0, 0, 0, 0, 0, 0, 8, 0)).toHaveLength(1);
    expect(of(7, 0, 0, 0, 0)).toHaveLength(1);
    expect(readExtensions(plain())).toEqual([]);
  });

  it('are empty when one is truncated or of unknown type', () => {
    expect(of(7, 0, 0, 0, 8, 0, 2, 0, 1)).toEqual([]);
    expect(of(7, 0, 0, 0, 8, 0, 1)).toEqual([]);
    expect(of(7, 0, 0, 0, 8, 0)).toEqual([]);
    expect(of(7, 0, 0, 0, LAST_EXTENSION_TYPE + 1, 0, 0, 0)).toEqual([]);
    expect(of(7, 0, 0, 0, LAST_EXTENSION_TYPE, 0, 0, 0)).toHaveLength(2);
  });

  it('are found by type; the first counts, even if invalid data follows', () => {
    const data = extended(plain(), AccountType.Account, [8, 0, 1, 0, 1, 8, 0, 1, 0, 2, 99, 0, 9, 9]);
    expect(findExtension(data, 8)).toEqual(Uint8Array.of(1));
    expect(findExtension(data, 7)).toBeNull();
    expect(findExtension(plain(), 8)).toBeNull();
  });
});
