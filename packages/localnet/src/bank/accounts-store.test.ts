import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Account } from '../../../../src/solana/account/account.ts';
import { type Address, addressBytes, addressFromBytes } from '../../../../src/solana/address.ts';
import { programs } from '../../../../src/solana/programs.ts';
import { lamports } from '../../../../src/solana/units.ts';
import { account } from '../../../../test/streams/ledger-script.ts';
import { AccountsStore } from './accounts-store.ts';

const key = (n: number): Address => addressFromBytes(new Uint8Array(32).fill(n + 1));

function tokenAccount(mint: Address, wallet: Address, delegate: Address | null): Uint8Array {
  const data = new Uint8Array(165);
  data.set(addressBytes(mint), 0);
  data.set(addressBytes(wallet), 32);
  if (delegate !== null) data.set([1, 0, 0, 0, ...addressBytes(delegate)], 72);
  data[108] = 1;
  return data;
}

const anAccount = (owner: Address, balance: bigint, data: Uint8Array = new Uint8Array()): Account =>
  account({ lamports: lamports(balance), data, owner });

const anyKey = fc.nat(3).map(key);
const anyAccount: fc.Arbitrary<Account | null> = fc.oneof(
  fc.constant(null),
  fc.tuple(anyKey, fc.bigInt(1n, 9n)).map(([owner, balance]) => anAccount(owner, balance)),
  fc
    .tuple(anyKey, anyKey, fc.option(anyKey), fc.constantFrom(programs.token, programs.token2022))
    .map(([mint, wallet, delegate, program]) => anAccount(program, 5n, tokenAccount(mint, wallet, delegate))),
);

/** Writes in nondecreasing slots, with roots in between. */
const anyHistory = fc.array(
  fc.record({ later: fc.nat(2), address: fc.nat(5).map(key), account: anyAccount, prune: fc.boolean() }),
  { maxLength: 60 },
);

type Step = { slot: number; address: Address; account: Account | null };

class Model {
  readonly steps: Step[] = [];
  at(address: Address, slot: number): Account | null {
    return this.steps.findLast((step) => step.address === address && step.slot <= slot)?.account ?? null;
  }
  all(slot: number): [Address, Account][] {
    return [...new Set(this.steps.map((step) => step.address))].flatMap((address): [Address, Account][] => {
      const account = this.at(address, slot);
      return account === null ? [] : [[address, account]];
    });
  }
}

const sorted = (found: Iterable<readonly [Address, Account]>) =>
  [...found].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));

const raw = (data: Uint8Array, at: number): Address => addressFromBytes(data.subarray(at, at + 32));
const isToken = ({ owner }: Account) => owner === programs.token || owner === programs.token2022;
const finders = {
  owner: (account: Account, wanted: Address) => account.owner === wanted,
  mint: (account: Account, wanted: Address) => isToken(account) && raw(account.data, 0) === wanted,
  wallet: (account: Account, wanted: Address) => isToken(account) && raw(account.data, 32) === wanted,
  delegate: (account: Account, wanted: Address) =>
    isToken(account) && account.data[72] === 1 && raw(account.data, 76) === wanted,
};

function expectSame(store: AccountsStore, model: Model, slot: number): void {
  for (let n = 0; n < 6; n++) expect(store.at(key(n), slot)).toBe(model.at(key(n), slot));
  expect(sorted(store.entries(slot))).toEqual(sorted(model.all(slot)));
  for (const kind of ['owner', 'mint', 'wallet', 'delegate'] as const) {
    for (const wanted of [0, 1, 2, 3].map(key)) {
      const expected = model.all(slot).filter(([, account]) => finders[kind](account, wanted));
      expect(sorted(store.find(kind, wanted, slot))).toEqual(sorted(expected));
    }
  }
}

describe('accounts store', () => {
  it('shows readers at or above the root the same state as a full history', () => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        const [store, model] = [new AccountsStore(), new Model()];
        let slot = 0;
        let root = 0;
        for (const { later, address, account, prune } of history) {
          slot += later;
          store.write(address, slot, account);
          model.steps.push({ slot, address, account });
          if (prune) {
            root = Math.max(root, slot - 2);
            store.prune(root);
          }
        }
        for (let at = root; at <= slot; at++) expectSame(store, model, at);
        const total = model.all(slot).reduce((sum, [, account]) => sum + account.lamports, 0n);
        expect(store.capitalization).toBe(total);
      }),
    );
  });

  it('drops an account drained below the root', () => {
    const store = new AccountsStore();
    store.write(key(1), 1, anAccount(key(0), 5n));
    store.write(key(1), 2, null);
    expect(store.size).toBe(1);
    store.prune(2);
    expect(store.size).toBe(0);
    expect([...store.find('owner', key(0), 2)]).toEqual([]);
  });

  it('keeps a pinned slot until released', () => {
    const store = new AccountsStore();
    const [old, young] = [anAccount(key(0), 1n), anAccount(key(0), 2n)];
    store.write(key(1), 1, old);
    const unpin = store.pin(1);
    store.write(key(1), 2, young);
    store.prune(2);
    expect(store.at(key(1), 1)).toBe(old);
    unpin();
    store.prune(2);
    expect(store.at(key(1), 1)).toBeNull();
    expect(store.at(key(1), 2)).toBe(young);
  });
});

describe('an account that was there before', () => {
  const OWNER = key(7);
  const ACCOUNT = anAccount(OWNER, 5n);

  it('is visible at all slots, and found by its owner', () => {
    const store = new AccountsStore();
    store.import(key(1), ACCOUNT);
    store.write(key(1), 40, ACCOUNT);
    store.prune(30);
    expect([store.at(key(1), 0), store.at(key(1), 40)]).toEqual([ACCOUNT, ACCOUNT]);
    expect([...store.find('owner', OWNER, 3)]).toEqual([[key(1), ACCOUNT]]);
    expect(store.capitalization).toBe(5n);
  });

  it('is visible from its removal on if it was removed', () => {
    const store = new AccountsStore();
    store.write(key(1), 10, anAccount(OWNER, 1n));
    store.write(key(1), 20, null);
    store.import(key(1), ACCOUNT);
    expect([9, 10, 20].map((slot) => store.at(key(1), slot)?.lamports ?? null)).toEqual([null, 1n, 5n]);
  });

  it('is visible at all slots again after a restart', () => {
    const store = new AccountsStore();
    store.write(key(1), 20, ACCOUNT);
    store.write(key(1), 30, null);
    store.backdate(key(1));
    expect([0, 29, 30].map((slot) => store.at(key(1), slot))).toEqual([ACCOUNT, ACCOUNT, null]);
  });
});
