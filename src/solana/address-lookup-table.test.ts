import { AddressLookupTableAccount } from '@solana/web3.js';
import { describe, expect, it } from 'vitest';
import { account } from '../../test/streams/ledger-script.ts';
import { ByteWriter } from '../base/bytes.ts';
import type { Account } from './account/account.ts';
import { type Address, addressBytes, addressFromBytes } from './address.ts';
import { decodeAddressLookupTable, resolveLookups } from './address-lookup-table.ts';
import { blockhashFromBytes } from './blockhash.ts';
import type { Message } from './message/message.ts';
import { programs } from './programs.ts';
import { slot, U64_MAX } from './units.ts';

const keyOf = (fill: number): Address => addressFromBytes(new Uint8Array(32).fill(fill));
const tableKey = keyOf(1);
const authority = keyOf(2);
const addresses = [10, 11, 12, 13].map(keyOf);

type Head = {
  deactivationSlot?: bigint;
  extendedSlot?: bigint;
  startIndex?: number;
  authority?: Address | null;
};

function tableData(head: Head = {}): Uint8Array {
  const writer = new ByteWriter()
    .u32(1)
    .u64(head.deactivationSlot ?? U64_MAX)
    .u64(head.extendedSlot ?? 5n)
    .u8(head.startIndex ?? 2);
  const owner = head.authority === undefined ? authority : head.authority;
  writer.u8(owner === null ? 0 : 1);
  if (owner !== null) writer.bytes(addressBytes(owner));
  writer.zeros(56 - writer.length);
  for (const address of addresses) writer.bytes(addressBytes(address));
  return writer.finish();
}

const accountOf = (data: Uint8Array, owner: Address = programs.addressLookupTable): Account =>
  account({ data, owner });

const messageOf = (writable: number[], readonly: number[]): Message => ({
  version: 0,
  header: { numRequiredSignatures: 1, numReadonlySignedAccounts: 0, numReadonlyUnsignedAccounts: 0 },
  accountKeys: [keyOf(9)],
  recentBlockhash: blockhashFromBytes(new Uint8Array(32)),
  instructions: [],
  addressTableLookups: [
    {
      accountKey: tableKey,
      writableIndexes: Uint8Array.from(writable),
      readonlyIndexes: Uint8Array.from(readonly),
    },
  ],
});

const resolve = (account: Account | null, at: bigint, writable = [3, 0], readonly = [1]) =>
  resolveLookups(messageOf(writable, readonly), (key) => (key === tableKey ? account : null), slot(at));

describe('address lookup table', () => {
  it('matches web3.js', () => {
    const data = tableData();
    const oracle = AddressLookupTableAccount.deserialize(data);
    expect(decodeAddressLookupTable(data)).toEqual({
      deactivationSlot: oracle.deactivationSlot,
      lastExtendedSlot: BigInt(oracle.lastExtendedSlot),
      lastExtendedSlotStartIndex: oracle.lastExtendedSlotStartIndex,
      authority: oracle.authority?.toBase58(),
      addresses: oracle.addresses.map(String),
    });
  });

  it('may be frozen', () => {
    expect(decodeAddressLookupTable(tableData({ authority: null }))).toMatchObject({
      authority: null,
      addresses,
    });
  });

  it('rejects uninitialized and truncated data', () => {
    const data = tableData();
    expect(decodeAddressLookupTable(new Uint8Array(56))).toBeNull();
    expect(decodeAddressLookupTable(data.subarray(0, data.length - 1))).toBeNull();
    expect(decodeAddressLookupTable(data.subarray(0, 55))).toBeNull();
  });
});

describe('lookup resolution', () => {
  it('loads writable and readonly addresses in order', () => {
    expect(resolve(accountOf(tableData()), 6n)).toEqual({
      loaded: { writable: [addresses[3], addresses[0]], readonly: [addresses[1]] },
    });
  });

  it('loads nothing without lookups', () => {
    const legacy = { ...messageOf([], []), addressTableLookups: [] };
    expect(resolveLookups(legacy, () => null, slot(1))).toEqual({ loaded: { writable: [], readonly: [] } });
  });

  it('excludes addresses added in the same slot', () => {
    expect(resolve(accountOf(tableData()), 5n)).toEqual({ fault: 'InvalidAddressLookupTableIndex' });
    expect(resolve(accountOf(tableData()), 5n, [0], [1])).toHaveProperty('loaded');
  });

  it('uses a deactivated table for 512 more slots', () => {
    const account = accountOf(tableData({ deactivationSlot: 100n }));
    expect(resolve(account, 100n)).toHaveProperty('loaded');
    expect(resolve(account, 612n)).toHaveProperty('loaded');
    expect(resolve(account, 613n)).toEqual({ fault: 'AddressLookupTableNotFound' });
  });

  it('reports faulty tables', () => {
    expect(resolve(null, 6n)).toEqual({ fault: 'AddressLookupTableNotFound' });
    expect(resolve(accountOf(tableData(), programs.system), 6n)).toEqual({
      fault: 'InvalidAddressLookupTableOwner',
    });
    expect(resolve(accountOf(new Uint8Array(56)), 6n)).toEqual({ fault: 'InvalidAddressLookupTableData' });
    expect(resolve(accountOf(tableData()), 6n, [4])).toEqual({ fault: 'InvalidAddressLookupTableIndex' });
    expect(resolve(accountOf(tableData({ startIndex: 9 })), 5n)).toEqual({
      fault: 'InvalidAddressLookupTableData',
    });
  });
});
