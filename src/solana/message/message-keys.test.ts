import { describe, expect, it } from 'vitest';
import { type Address, addressFromBytes } from '../address.ts';
import { blockhashFromBytes } from '../blockhash.ts';
import { programs, sysvars } from '../programs.ts';
import type { LoadedAddresses, Message } from './message.ts';
import { allKeys, isProgram, isSigner, isWritable } from './message-keys.ts';

const someKey = (fill: number): Address => addressFromBytes(new Uint8Array(32).fill(fill));

/** Three signers (two readonly), then unsigned keys, the last readonly. */
function messageOf(accountKeys: readonly Address[], programIndexes: readonly number[] = []): Message {
  return {
    version: 0,
    header: { numRequiredSignatures: 3, numReadonlySignedAccounts: 2, numReadonlyUnsignedAccounts: 1 },
    accountKeys,
    recentBlockhash: blockhashFromBytes(new Uint8Array(32)),
    instructions: programIndexes.map((programIdIndex) => ({
      programIdIndex,
      accounts: new Uint8Array(),
      data: new Uint8Array(),
    })),
    addressTableLookups: [],
  };
}

const keys = [1, 2, 3, 4, 5, 6].map(someKey);
const loaded: LoadedAddresses = { writable: [someKey(7), sysvars.clock], readonly: [someKey(9)] };

const writables = (message: Message, withLoaded?: LoadedAddresses): number[] =>
  [...allKeys(message, withLoaded).keys()].filter((index) => isWritable(message, index, withLoaded));

describe('message keys', () => {
  it('are static, loaded writable, loaded readonly', () => {
    expect(allKeys(messageOf(keys), loaded)).toEqual([...keys, ...loaded.writable, ...loaded.readonly]);
    expect(allKeys(messageOf(keys))).toEqual(keys);
  });

  it('sign according to the header', () => {
    expect(keys.filter((_, index) => isSigner(messageOf(keys), index))).toEqual(keys.slice(0, 3));
  });

  it('are writable by header and loaded list, never beyond the end', () => {
    expect(writables(messageOf(keys))).toEqual([0, 3, 4]);
    // Index 7 is a sysvar.
    expect(writables(messageOf(keys), loaded)).toEqual([0, 3, 4, 6]);
    expect(isWritable(messageOf(keys), 6)).toBe(false);
    expect(isWritable(messageOf(keys), 99, loaded)).toBe(false);
  });

  it('are not writable when reserved', () => {
    const reserved = [...keys.slice(0, 3), programs.system, sysvars.rent, someKey(6)];
    expect(writables(messageOf(reserved))).toEqual([0]);
  });

  it('lose the write lock when invoked as programs', () => {
    const message = messageOf(keys, [3]);
    expect(isProgram(message, 3)).toBe(true);
    expect(writables(message)).toEqual([0, 4]);
  });

  it('keep the write lock with the upgradeable loader among the keys', () => {
    const upgrade = messageOf([...keys.slice(0, 5), programs.bpfUpgradeableLoader], [3]);
    expect(writables(upgrade)).toEqual([0, 3, 4]);
    const withLoader = { ...loaded, readonly: [programs.bpfUpgradeableLoader] };
    expect(writables(messageOf(keys, [3]), withLoader)).toEqual([0, 3, 4, 6]);
  });
});
