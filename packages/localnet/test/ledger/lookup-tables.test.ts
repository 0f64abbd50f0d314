import {
  AddressLookupTableAccount,
  AddressLookupTableProgram,
  Keypair,
  MessageV0,
  SystemProgram,
  VersionedTransaction,
} from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { at, decoded, Lab, SOL } from './lab.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await Lab.open();
});
afterAll(() => lab.close());

const lastMeta = () => lab.node.history.block(lab.node.bank('processed').slot)!.transactions.at(-1)!.meta;

describe('version 0 transaction', () => {
  it('loads keys from a lookup table and is found by all keys', () => {
    const [payer, target] = [lab.wallet(), Keypair.generate().publicKey];
    lab.freeze();
    const [create, tableKey] = AddressLookupTableProgram.createLookupTable({
      authority: payer.publicKey,
      payer: payer.publicKey,
      recentSlot: Number(lab.node.bank('processed').slot),
    });
    const extend = AddressLookupTableProgram.extendLookupTable({
      lookupTable: tableKey,
      authority: payer.publicKey,
      payer: payer.publicKey,
      addresses: [target],
    });
    expect(lab.run([payer], [create, extend])).toBeNull();
    const data = lab.node.bank('processed').account(at(tableKey))!.data;
    const table = new AddressLookupTableAccount({
      key: tableKey,
      state: AddressLookupTableAccount.deserialize(data),
    });
    const pay = SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: target, lamports: SOL });
    const transaction = lab.versioned([payer], [pay], [table]);
    expect(transaction.message.accountKeys).not.toContain(at(target));
    expect(lab.node.submit(transaction)).toBeNull();
    lab.freeze();
    expect(lab.balance(target)).toBe(BigInt(SOL));
    expect(lastMeta().loadedAddresses).toEqual({ writable: [at(target)], readonly: [] });
    expect(lastMeta().postBalances).toHaveLength(3);
    const highestSlot = lab.node.bank('processed').slot;
    for (const key of [at(payer.publicKey), at(target)]) {
      const [newest] = lab.node.history.signaturesForAddress(key, { limit: 1, highestSlot });
      expect(newest).toEqual({ signature: transaction.signatures[0], slot: highestSlot, index: 0 });
    }
    const unknown = new AddressLookupTableAccount({ ...table, key: Keypair.generate().publicKey });
    expect(lab.node.submit(lab.versioned([payer], [pay], [unknown]))).toBe('AddressLookupTableNotFound');
    // The same address twice.
    const twice = new MessageV0({
      header: { numRequiredSignatures: 1, numReadonlySignedAccounts: 0, numReadonlyUnsignedAccounts: 1 },
      staticAccountKeys: [payer.publicKey, SystemProgram.programId],
      recentBlockhash: lab.blockhash,
      compiledInstructions: [],
      addressTableLookups: [{ accountKey: tableKey, writableIndexes: [0, 0], readonlyIndexes: [] }],
    });
    const doubled = new VersionedTransaction(twice);
    doubled.sign([payer]);
    expect(lab.node.submit(decoded(doubled.serialize()))).toBe('AccountLoadedTwice');
  });
});
