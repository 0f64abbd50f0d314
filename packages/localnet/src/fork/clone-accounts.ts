import type { Logger } from '../../../../src/base/log.ts';
import type { Account } from '../../../../src/solana/account/account.ts';
import type { Address } from '../../../../src/solana/address.ts';
import { decodeAddressLookupTable } from '../../../../src/solana/address-lookup-table.ts';
import { programs } from '../../../../src/solana/programs.ts';
import { programDataAddressOf } from '../bank/vm-accounts.ts';
import type { RemoteAccounts } from './remote-accounts.ts';

/** Accounts to copy from another cluster, by option of solana-test-validator. */
export type CloneRequest = Readonly<{
  /** Must exist. */
  accounts: readonly Address[];
  /** Skipped if absent. */
  maybeAccounts: readonly Address[];
  /** Upgradeable programs, copied with their program data. */
  upgradeablePrograms: readonly Address[];
  /** Lookup tables, copied with the accounts they list, as far as these exist. */
  lookupTables: readonly Address[];
  /** Programs of any loader; upgradeable ones are copied with their program data. */
  programs: readonly Address[];
}>;

type Found = ReadonlyMap<Address, Account>;

async function readAll(
  remote: Pick<RemoteAccounts, 'read'>,
  addresses: readonly Address[],
): Promise<Map<Address, Account>> {
  const distinct = [...new Set(addresses)];
  const found = new Map<Address, Account>();
  for (const [index, account] of (await remote.read(distinct)).entries()) {
    if (account !== null) found.set(distinct[index] as Address, account);
  }
  return found;
}

/** Reads the accounts of `request` and those they refer to, in two rounds. @throws Error that names the address. */
export async function cloneAccounts(
  remote: Pick<RemoteAccounts, 'read' | 'host'>,
  request: CloneRequest,
  log: Logger | null,
): Promise<[Address, Account][]> {
  const { accounts, maybeAccounts, upgradeablePrograms, lookupTables } = request;
  const anyPrograms = request.programs;
  const mustExist = [...accounts, ...upgradeablePrograms, ...lookupTables, ...anyPrograms];
  const found = await readAll(remote, [...mustExist, ...maybeAccounts]);
  for (const address of mustExist) requireFound(found, address, remote.host);
  for (const address of maybeAccounts) {
    if (!found.has(address)) log?.warn({ address, host: remote.host }, 'account not found; skipping it');
  }
  const code = [
    ...upgradeablePrograms.map((program) => programDataOf(found, program)),
    ...anyPrograms.flatMap((program) => programDataAddressOf(requireProgram(found, program)) ?? []),
  ];
  const listed = lookupTables.flatMap((table) => addressesIn(found, table));
  const referred = await readAll(remote, [...code, ...listed]);
  for (const address of code) requireFound(referred, address, remote.host);
  return [...found, ...referred];
}

function requireFound(found: Found, address: Address, host: string): void {
  if (!found.has(address)) throw new Error(`account ${address} does not exist on ${host}`);
}

function programDataOf(found: Found, program: Address): Address {
  const account = found.get(program);
  const code = account === undefined ? null : programDataAddressOf(account);
  if (code === null) throw new Error(`account ${program} is not an upgradeable program: use --clone`);
  return code;
}

function requireProgram(found: Found, program: Address): Account {
  const account = found.get(program);
  if (!account?.executable) throw new Error(`account ${program} is not a program: use --clone`);
  return account;
}

function addressesIn(found: Found, table: Address): readonly Address[] {
  const account = found.get(table);
  const isTable = account?.owner === programs.addressLookupTable;
  const decoded = isTable ? decodeAddressLookupTable(account.data) : null;
  if (decoded === null) throw new Error(`account ${table} is not an address lookup table`);
  return decoded.addresses;
}
