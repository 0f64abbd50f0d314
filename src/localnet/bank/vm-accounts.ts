import { type LiteSvm, Account as NativeAccount } from 'litesvm/dist/internal.js';
import type { Account } from '../../solana/account/account.ts';
import { type Address, addressBytes, addressFromBytes } from '../../solana/address.ts';
import { programs, sysvarOwner, sysvars } from '../../solana/programs.ts';
import { lamports } from '../../solana/units.ts';
import { ownerAddress } from './owner-address.ts';

/** An account of the VM as the ledger holds it. */
export function accountOf(native: NativeAccount): Account {
  return {
    lamports: lamports(native.lamports()),
    data: native.data(),
    owner: ownerAddress(native.owner()),
    executable: native.executable(),
    rentEpoch: native.rentEpoch(),
  };
}

/** An account of the ledger as the VM takes it; null is the empty account, which removes. */
export function nativeOf(account: Account | null): NativeAccount {
  if (account === null) return new NativeAccount(0n, new Uint8Array(), new Uint8Array(32), false, 0n);
  const { data, executable, rentEpoch } = account;
  return new NativeAccount(account.lamports, data, addressBytes(account.owner), executable, rentEpoch);
}

/** Whether two accounts are the same to the last byte. */
export function isSameAccount(a: Account, b: Account): boolean {
  return (
    a.lamports === b.lamports &&
    a.owner === b.owner &&
    a.executable === b.executable &&
    a.rentEpoch === b.rentEpoch &&
    a.data.length === b.data.length &&
    Buffer.compare(a.data, b.data) === 0
  );
}

const PROGRAM_STATE = 2;
const PROGRAM_DATA_STATE = 3;

/** Where the code of a program of the upgradeable loader lies; null for any other account. */
export function programDataAddressOf({ owner, data }: Account): Address | null {
  if (owner !== programs.bpfUpgradeableLoader || data.length < 36 || data[0] !== PROGRAM_STATE) return null;
  return addressFromBytes(data.subarray(4, 36));
}

/** Where the code of a program says who may upgrade it: 0 or 1, then the address. */
const AUTHORITY_OFFSET = 12;

/** The account that holds a program's code, with another upgrade authority. */
export function ownedBy(authority: Address | null, account: Account): Account {
  const data = new Uint8Array(account.data).fill(0, AUTHORITY_OFFSET, AUTHORITY_OFFSET + 33);
  if (authority === null) return { ...account, data };
  data[AUTHORITY_OFFSET] = 1;
  data.set(addressBytes(authority), AUTHORITY_OFFSET + 1);
  return { ...account, data };
}

/** The account with the slot of its deployment set to 0, when it holds a program's code. */
function deployedAtGenesis(account: Account): Account {
  if (account.owner !== programs.bpfUpgradeableLoader || account.data[0] !== PROGRAM_DATA_STATE)
    return account;
  const data = new Uint8Array(account.data);
  data.fill(0, 4, 12);
  return { ...account, data };
}

/** Owners of the accounts that a new VM brings along, but for its private faucet. */
const baseOwners: readonly Address[] = [
  programs.nativeLoader,
  programs.bpfLoader1,
  programs.bpfLoader2,
  programs.bpfUpgradeableLoader,
  programs.feature,
  programs.config,
  programs.token,
  programs.token2022,
  sysvarOwner,
];

/** The programs, feature gates, native mints and sysvars of a new VM; sysvars are short and hold 1 lamport. */
export function baseAccounts(vm: LiteSvm): [Address, Account][] {
  return baseOwners.flatMap((owner) =>
    vm
      .getProgramAccounts(addressBytes(owner))
      .map((entry): [Address, Account] => [
        addressFromBytes(entry.address),
        deployedAtGenesis(accountOf(entry.account())),
      ])
      // Retired from every cluster.
      .filter(([address]) => address !== sysvars.fees),
  );
}
