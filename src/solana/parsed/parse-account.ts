import type { WritableJson } from '../../base/json.ts';
import type { Account } from '../account/account.ts';
import type { Address } from '../address.ts';
import { programs, sysvarOwner } from '../programs.ts';
import { parseAddressLookupTable } from './account/address-lookup-table.ts';
import { parseBpfUpgradeableLoader } from './account/bpf-upgradeable-loader.ts';
import { parseConfig } from './account/config.ts';
import type { AccountLookup, AccountParts } from './account/parsed-account.ts';
import { parseStake } from './account/stake.ts';
import { parseNonce } from './account/system-nonce.ts';
import { parseSysvar } from './account/sysvar.ts';
import { parseToken } from './account/token.ts';
import { parseVote } from './account/vote.ts';
import { inWireOrder } from './wire-order.ts';

/**
 * `jsonParsed` of accounts, as Agave 4.2 shows them; a library of pure functions that needs `base` and `ledger` only.
 *
 * ```ts
 * const lookup: AccountLookup = {
 *   mint: (address) => decodeMintScale(accounts.get(address)?.data ?? new Uint8Array()),
 *   unixTimestamp: clock.unixTimestamp,
 * };
 * const data = parseAccountData(address, account, lookup) ?? [base64(account.data), 'base64'];
 * writeJson(data);
 * ```
 *
 * - Only token accounts look anything up. Parsing does not wait: who reads from afar fetches their mints before, and
 *   the clock when a mint bears interest or multiplies.
 * - Members come in the order of the wire, u64 as bigint: write them with `writeJson` of `base/json.ts`.
 * - null is an answer and no fault: nodes show such an account in base64, as they do with the config program's stake
 *   configuration since Agave 4.1.
 * - Each program has a file in `account/`; the extensions of Token-2022 are in `account/token-extension.ts`.
 */

/** An account that a node shows by its meaning, members in wire order. */
export type ParsedAccount = {
  readonly parsed: WritableJson;
  /** Whose account it is; a nonce account, though the system program's, says `nonce`. */
  readonly program: string;
  /** The length of the account's data, in bytes. */
  readonly space: number;
};

type Program = Readonly<{
  label: string;
  parse: (data: Uint8Array, address: Address, lookup: AccountLookup) => AccountParts | null;
}>;

const parseTokenData: Program['parse'] = (data, _address, lookup) => parseToken(data, lookup);

/** Source: account-decoder/src/parse_account_data.rs, `PARSABLE_PROGRAM_IDS`. */
const parsable: ReadonlyMap<Address, Program> = new Map<Address, Program>([
  [programs.addressLookupTable, { label: 'address-lookup-table', parse: parseAddressLookupTable }],
  [programs.bpfUpgradeableLoader, { label: 'bpf-upgradeable-loader', parse: parseBpfUpgradeableLoader }],
  [programs.config, { label: 'config', parse: parseConfig }],
  [programs.system, { label: 'nonce', parse: parseNonce }],
  [programs.token, { label: 'spl-token', parse: parseTokenData }],
  [programs.token2022, { label: 'spl-token-2022', parse: parseTokenData }],
  [programs.stake, { label: 'stake', parse: parseStake }],
  [sysvarOwner, { label: 'sysvar', parse: parseSysvar }],
  [programs.vote, { label: 'vote', parse: parseVote }],
]);

/**
 * What an account means. Never throws on bytes from outside.
 *
 * @param lookup where to find the mint of a token account, and the time
 * @returns null when its owner is not parsed or its data is not understood; nodes then show base64
 * @see account-decoder/src/parse_account_data.rs, `parse_account_data_v3`
 */
export function parseAccountData(
  address: Address,
  account: Account,
  lookup: AccountLookup = {},
): ParsedAccount | null {
  const program = parsable.get(account.owner);
  const parts = program?.parse(account.data, address, lookup) ?? null;
  if (program === undefined || parts === null) return null;
  return { parsed: inWireOrder(parts), program: program.label, space: account.data.length };
}
