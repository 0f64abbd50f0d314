import { AddressLookupTableProgram, PublicKey, TransactionInstruction } from '@solana/web3.js';
import { describe, expect, it } from 'vitest';
import { ByteWriter } from '../../src/base/bytes.ts';
import { parsedJson, text, withData, withoutAccounts } from './built.ts';

const key = (n: number): PublicKey => new PublicKey(Buffer.alloc(32, n));
const [table, authority, payer, other] = [key(1), key(2), key(3), key(4)];
const systemProgram = '11111111111111111111111111111111';

describe('address lookup table instruction', () => {
  const info = { lookupTableAccount: text(table), lookupTableAuthority: text(authority) };

  it('creates a table', () => {
    const [create, address] = AddressLookupTableProgram.createLookupTable({
      authority,
      payer,
      recentSlot: 77,
    });
    expect(parsedJson(create)).toEqual({
      type: 'createLookupTable',
      info: {
        lookupTableAccount: text(address),
        lookupTableAuthority: text(authority),
        payerAccount: text(payer),
        systemProgram,
        recentSlot: 77,
        bumpSeed: create.data.at(-1),
      },
    });
    expect(parsedJson(withoutAccounts(create, 1))).toBeNull();
  });

  it('extends a table with or without payer', () => {
    const extend = AddressLookupTableProgram.extendLookupTable({
      lookupTable: table,
      authority,
      payer,
      addresses: [other, payer],
    });
    const newAddresses = [text(other), text(payer)];
    expect(parsedJson(extend)).toEqual({
      type: 'extendLookupTable',
      info: { ...info, newAddresses, payerAccount: text(payer), systemProgram },
    });
    for (const gone of [1, 2]) {
      const parsed = parsedJson(withoutAccounts(extend, gone));
      expect(parsed).toEqual({ type: 'extendLookupTable', info: { ...info, newAddresses } });
    }
    expect(parsedJson(withData(extend, extend.data.subarray(0, -1)))).toBeNull();
  });

  it('freezes, deactivates and closes a table', () => {
    const of = { lookupTable: table, authority };
    expect(parsedJson(AddressLookupTableProgram.freezeLookupTable(of))).toEqual({
      type: 'freezeLookupTable',
      info,
    });
    expect(parsedJson(AddressLookupTableProgram.deactivateLookupTable(of))).toEqual({
      type: 'deactivateLookupTable',
      info,
    });
    expect(parsedJson(AddressLookupTableProgram.closeLookupTable({ ...of, recipient: other }))).toEqual({
      type: 'closeLookupTable',
      info: { ...info, recipient: text(other) },
    });
  });
});

const loading =
  (programId: string) =>
  (accounts: number[], write: (data: ByteWriter) => ByteWriter): TransactionInstruction =>
    new TransactionInstruction({
      programId: new PublicKey(programId),
      keys: accounts.map((n) => ({ pubkey: key(n), isSigner: false, isWritable: false })),
      data: Buffer.from(write(new ByteWriter()).finish()),
    });

const name = (n: number): string => text(key(n));

describe('upgradeable loader instruction', () => {
  const loader = loading('BPFLoaderUpgradeab1e11111111111111111111111');

  it('writes bytes in base64', () => {
    const write = loader([1, 2], (data) =>
      data
        .u32(1)
        .u32(9)
        .u64(3n)
        .bytes(Uint8Array.of(1, 2, 3)),
    );
    expect(parsedJson(write)).toEqual({
      type: 'write',
      info: { offset: 9, bytes: 'AQID', account: name(1), authority: name(2) },
    });
    expect(parsedJson(withData(write, write.data.subarray(0, -1)))).toBeNull();
  });

  it('deploys and upgrades', () => {
    expect(parsedJson(loader([1, 2, 3, 4, 5, 6, 7, 8], (data) => data.u32(2).u64(99n)))).toEqual({
      type: 'deployWithMaxDataLen',
      info: {
        maxDataLen: 99,
        payerAccount: name(1),
        programDataAccount: name(2),
        programAccount: name(3),
        bufferAccount: name(4),
        rentSysvar: name(5),
        clockSysvar: name(6),
        systemProgram: name(7),
        authority: name(8),
      },
    });
    expect(parsedJson(loader([1, 2, 3, 4, 5, 6, 7], (data) => data.u32(3)))).toMatchObject({
      type: 'upgrade',
      info: { spillAccount: name(4), authority: name(7) },
    });
  });

  it.each([
    [[1, 2], 4, 'setAuthority', { account: name(1), authority: name(2), newAuthority: null }],
    [[1, 2, 3], 4, 'setAuthority', { account: name(1), authority: name(2), newAuthority: name(3) }],
    [
      [1, 2, 3],
      5,
      'close',
      { account: name(1), recipient: name(2), authority: name(3), programAccount: null },
    ],
    [[1, 2, 3], 7, 'setAuthorityChecked', { account: name(1), authority: name(2), newAuthority: name(3) }],
    [[1], 0, 'initializeBuffer', { account: name(1) }],
    [[1, 2], 0, 'initializeBuffer', { account: name(1), authority: name(2) }],
  ])('names %j of variant %i', (accounts, discriminant, type, info) => {
    expect(parsedJson(loader(accounts, (data) => data.u32(discriminant)))).toEqual({ type, info });
    expect(parsedJson(loader([], (data) => data.u32(discriminant)))).toBeNull();
  });

  it('extends a program with a null payer if absent', () => {
    expect(parsedJson(loader([1, 2], (data) => data.u32(6).u32(10)))).toEqual({
      type: 'extendProgram',
      info: {
        additionalBytes: 10,
        programDataAccount: name(1),
        programAccount: name(2),
        systemProgram: null,
        payerAccount: null,
      },
    });
    expect(parsedJson(loader([1, 2, 3, 4, 5], (data) => data.u32(9).u32(10)))).toMatchObject({
      type: 'extendProgramChecked',
      info: { authority: name(3), systemProgram: name(4), payerAccount: name(5) },
    });
  });
});

describe('older loader instruction', () => {
  const loader = loading('BPFLoader2111111111111111111111111111111111');

  it('writes and finalizes', () => {
    expect(parsedJson(loader([1], (data) => data.u32(0).u32(9).u64(1n).u8(255)))).toEqual({
      type: 'write',
      info: { offset: 9, bytes: '/w==', account: name(1) },
    });
    expect(parsedJson(loader([1, 2], (data) => data.u32(1)))).toEqual({
      type: 'finalize',
      info: { account: name(1) },
    });
    expect(parsedJson(loader([1], (data) => data.u32(1)))).toBeNull();
  });
});
