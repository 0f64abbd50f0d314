import { type LiteSvm, Account as NativeAccount } from 'litesvm/dist/internal.js';
import type { Account } from '../../../../src/solana/account/account.ts';
import { type Address, addressBytes, addressFromBytes } from '../../../../src/solana/address.ts';
import { programs, sysvarOwner, sysvars } from '../../../../src/solana/programs.ts';
import { lamports, U64_MAX } from '../../../../src/solana/units.ts';
import { ownerAddress } from '../history/account-codec.ts';

export function accountOf(native: NativeAccount): Account {
  return {
    lamports: lamports(native.lamports()),
    data: native.data(),
    owner: ownerAddress(native.owner()),
    executable: native.executable(),
    rentEpoch: native.rentEpoch(),
  };
}

/** null becomes the empty account, which removes the stored one. */
export function nativeOf(account: Account | null): NativeAccount {
  if (account === null) return new NativeAccount(0n, new Uint8Array(), new Uint8Array(32), false, 0n);
  const { data, executable, rentEpoch } = account;
  return new NativeAccount(account.lamports, data, addressBytes(account.owner), executable, rentEpoch);
}

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

/** null if the account is not an upgradeable program. */
export function programDataAddressOf({ owner, data }: Account): Address | null {
  if (owner !== programs.bpfUpgradeableLoader || data.length < 36 || data[0] !== PROGRAM_STATE) return null;
  return addressFromBytes(data.subarray(4, 36));
}

/** Offset of the upgrade authority: a flag, then the address. */
const AUTHORITY_OFFSET = 12;

/** Program data with the upgrade authority replaced. */
export function withUpgradeAuthority(authority: Address | null, account: Account): Account {
  const data = new Uint8Array(account.data).fill(0, AUTHORITY_OFFSET, AUTHORITY_OFFSET + 33);
  if (authority === null) return { ...account, data };
  data[AUTHORITY_OFFSET] = 1;
  data.set(addressBytes(authority), AUTHORITY_OFFSET + 1);
  return { ...account, data };
}

const isProgramData = ({ owner, data }: Account): boolean =>
  owner === programs.bpfUpgradeableLoader && data[0] === PROGRAM_DATA_STATE;

/** Program data with deployment slot 0; other accounts unchanged. */
export function deployedInSlot0(account: Account): Account {
  if (!isProgramData(account)) return account;
  const data = new Uint8Array(account.data);
  data.fill(0, 4, 12);
  return { ...account, data };
}

const loaders: readonly Address[] = [programs.bpfLoader1, programs.bpfLoader2, programs.bpfUpgradeableLoader];

/**
 * Program or program data as in Agave's genesis: deployed in slot 0 with the system program as upgrade authority. Source:
 * agave program-binaries.
 */
function deployedAtGenesis(account: Account): Account {
  if (!loaders.includes(account.owner)) return account;
  const program = { ...account, rentEpoch: U64_MAX };
  return isProgramData(account) ? withUpgradeAuthority(programs.system, deployedInSlot0(program)) : program;
}

/** Owners of the accounts to copy from a new VM. */
const baseOwners: readonly Address[] = [programs.nativeLoader, ...loaders, sysvarOwner];

/** Programs and sysvars of a new VM; sysvars are short and hold 1 lamport. */
export function baseAccounts(vm: LiteSvm): [Address, Account][] {
  return baseOwners.flatMap((owner) =>
    vm
      .getProgramAccounts(addressBytes(owner))
      .map((entry): [Address, Account] => [
        addressFromBytes(entry.address),
        deployedAtGenesis(accountOf(entry.account())),
      ])
      // Retired on all clusters.
      .filter(([address]) => address !== sysvars.fees),
  );
}
