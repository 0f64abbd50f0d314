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
 * `jsonParsed` accounts as in Agave 4.2. Pure functions; null means that nodes show base64. Callers fetch
 * mints (and the clock) before. Output has wire order with u64 as bigint: write it with `writeJson`. One
 * file per program in `account/`.
 */

type ParsedAccount = {
  readonly parsed: WritableJson;
  /** Owner program; `nonce` for nonce accounts. */
  readonly program: string;
  /** Data length in bytes. */
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
 * Never throws on untrusted bytes.
 *
 * @param lookup - mints of token accounts, and the time
 * @returns null when not parsed; nodes then show base64
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
