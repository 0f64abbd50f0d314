import {
  AddressLookupTableAccount,
  AddressLookupTableProgram,
  Keypair,
  MessageV0,
  type PublicKey,
  SystemProgram,
  VersionedTransaction,
} from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Account } from '../../../../src/solana/account/account.ts';
import type { Address } from '../../../../src/solana/address.ts';
import type { Blockhash } from '../../../../src/solana/blockhash.ts';
import { encodeNonce, type Nonce } from '../../../../src/solana/nonce.ts';
import { programs } from '../../../../src/solana/programs.ts';
import type { Transaction } from '../../../../src/solana/transaction/transaction.ts';
import { lamports } from '../../../../src/solana/units.ts';
import { getFeeForMessage } from '../../src/rpc/getFeeForMessage.ts';
import { at, decoded, Lab, SOL } from './lab.ts';

/** Expired blockhash. */
const OLD_HASH = Keypair.generate().publicKey.toBase58() as Blockhash;
const authority = Keypair.generate();
const stored = { current: Keypair.generate().publicKey, legacy: Keypair.generate().publicKey };

function nonceAccount(version: Nonce['version']): readonly [Address, Account] {
  const data = { authority: at(authority.publicKey), durableNonce: OLD_HASH, lamportsPerSignature: 5000n };
  const account = {
    lamports: lamports(1_500_000),
    data: encodeNonce({ version, data }),
    owner: programs.system,
    executable: false,
    rentEpoch: 2n ** 64n - 1n,
  };
  return [at(stored[version]), account];
}

let lab: Lab;
beforeAll(async () => {
  lab = await Lab.open({ accounts: [nonceAccount('current'), nonceAccount('legacy')] });
  lab.node.airdrop(at(authority.publicKey), lamports(BigInt(10 * SOL)));
  lab.freeze();
});
afterAll(() => lab.close());

const advance = (nonce: PublicKey) =>
  SystemProgram.nonceAdvance({ noncePubkey: nonce, authorizedPubkey: authority.publicKey });

describe('locked accounts', () => {
  const many = Array.from({ length: 63 }, () => Keypair.generate().publicKey);
  let payer: Keypair;
  let table: PublicKey;
  const system = SystemProgram.programId;

  /** Lookup table of the payer and many others. */
  beforeAll(() => {
    payer = lab.wallet();
    lab.freeze();
    const owner = { authority: payer.publicKey, payer: payer.publicKey };
    const recentSlot = Number(lab.node.bank('processed').slot);
    const [create, key] = AddressLookupTableProgram.createLookupTable({ ...owner, recentSlot });
    table = key;
    expect(lab.run([payer], [create])).toBeNull();
    const addresses = [payer.publicKey, ...many];
    while (addresses.length > 0) {
      const some = { ...owner, lookupTable: table, addresses: addresses.splice(0, 25) };
      expect(lab.run([payer], [AddressLookupTableProgram.extendLookupTable(some)])).toBeNull();
    }
    const data = lab.node.bank('processed').account(at(table))!.data;
    expect(AddressLookupTableAccount.deserialize(data).addresses).toHaveLength(64);
  });

  /** Zero transfer to the first loaded key. */
  function loading(indexes: number[], from = payer): Transaction {
    const message = new MessageV0({
      header: { numRequiredSignatures: 1, numReadonlySignedAccounts: 0, numReadonlyUnsignedAccounts: 1 },
      staticAccountKeys: [from.publicKey, system],
      recentBlockhash: lab.blockhash,
      compiledInstructions: [
        {
          programIdIndex: 1,
          accountKeyIndexes: [0, 2],
          data: Uint8Array.from([2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        },
      ],
      addressTableLookups: [{ accountKey: table, writableIndexes: indexes, readonlyIndexes: [] }],
    });
    const transaction = new VersionedTransaction(message);
    transaction.sign([from]);
    return decoded(transaction.serialize());
  }
  const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

  /** No fee and no status. */
  function expectRefused(transaction: Transaction, why: string): void {
    const before = lab.balance(payer.publicKey);
    expect(lab.node.submit(transaction)).toBe(why);
    lab.freeze();
    expect(lab.balance(payer.publicKey)).toBe(before);
    expect(lab.node.recentStatus(transaction.signatures[0]!)).toBeNull();
  }

  it('are at most 64, including lookup tables', () => {
    expect(lab.node.submit(loading(upTo(62)))).toBeNull();
    lab.freeze();
    expectRefused(loading(upTo(63)), 'TooManyAccountLocks');
  });

  it('are distinct, including lookup tables', () => {
    expectRefused(loading([0]), 'AccountLoadedTwice');
    expectRefused(loading([1, 1]), 'AccountLoadedTwice');
  });

  it('are checked before the payer', () => {
    const nobody = Keypair.generate();
    expectRefused(loading([1, 1], nobody), 'AccountLoadedTwice');
    expectRefused(loading(upTo(63), nobody), 'TooManyAccountLocks');
    expectRefused(loading([1], nobody), 'AccountNotFound');
  });
});

describe('nonce account', () => {
  it('of the legacy version is not durable and has no fee, unlike the current version', () => {
    const fee = (nonce: PublicKey) => {
      const { messageBytes } = lab.legacy([authority], [advance(nonce)], OLD_HASH);
      const text = Buffer.from(messageBytes).toString('base64');
      return getFeeForMessage(lab.node, [text, { commitment: 'processed' }]);
    };
    expect(fee(stored.legacy)).toMatchObject({ value: null });
    expect(fee(stored.current)).toMatchObject({ value: 5000n });
    const run = (nonce: PublicKey) => lab.node.submit(lab.legacy([authority], [advance(nonce)], OLD_HASH));
    expect(run(stored.legacy)).toBe('BlockhashNotFound');
    expect(run(stored.current)).toBeNull();
  });
});
