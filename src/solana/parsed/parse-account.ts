import type { ByteReader } from '../../base/bytes.ts';
import type { WritableJson } from '../../base/json.ts';
import type { Account } from '../account/account.ts';
import type { Address } from '../address.ts';
import { decodeAddressLookupTable } from '../address-lookup-table.ts';
import { pubkey, readOption, readOrNull } from '../codec.ts';
import { decodeNonce, NONCE_BYTES } from '../nonce.ts';
import { programs, sysvarOwner } from '../programs.ts';
import { decodeStakeState, type Stake, type StakeMeta } from '../stake-state.ts';
import { parseConfig } from './account/config.ts';
import type { AccountLookup, AccountParts } from './account/parsed-account.ts';
import { parseSysvar } from './account/sysvar.ts';
import { parseToken } from './account/token.ts';
import { parseVote } from './account/vote.ts';
import { inWireOrder, type Members } from './wire-order.ts';

/** The account may be larger than a nonce. Source: account-decoder/src/parse_nonce.rs */
function parseNonce(data: Uint8Array): AccountParts | null {
  const nonce = decodeNonce(data.subarray(0, NONCE_BYTES))?.data ?? null;
  if (nonce === null) return null;
  const feeCalculator = { lamportsPerSignature: String(nonce.lamportsPerSignature) };
  return {
    type: 'initialized',
    info: { authority: nonce.authority, blockhash: nonce.durableNonce, feeCalculator },
  };
}

const stakeMeta = ({ rentExemptReserve, authorized, lockup }: StakeMeta): Members => ({
  rentExemptReserve: String(rentExemptReserve),
  authorized,
  lockup,
});

/** Agave 4.1 and later do not show the warm-up rate. */
const delegatedStake = ({ delegation, creditsObserved }: Stake): Members => ({
  delegation: {
    voter: delegation.voter,
    stake: String(delegation.stake),
    activationEpoch: String(delegation.activationEpoch),
    deactivationEpoch: String(delegation.deactivationEpoch),
  },
  creditsObserved,
});

/** Source: account-decoder/src/parse_stake.rs */
function parseStake(data: Uint8Array): AccountParts | null {
  const state = decodeStakeState(data);
  if (state === null) return null;
  if (state.type === 'uninitialized' || state.type === 'rewardsPool') return { type: state.type };
  const shown = state.type === 'delegated' ? delegatedStake(state.stake) : null;
  return { type: state.type, info: { meta: stakeMeta(state.meta), stake: shown } };
}

/** Program code, which is incomplete while a buffer is being written. */
const dataAfterHeader = (data: ByteReader) => [
  Buffer.from(data.bytes(data.remaining)).toString('base64'),
  'base64',
];

function readLoaderState(data: ByteReader): AccountParts | null {
  switch (data.u32()) {
    case 0:
      return { type: 'uninitialized' };
    case 1: {
      const authority = readOption(data, pubkey.read);
      return { type: 'buffer', info: { authority, data: dataAfterHeader(data) } };
    }
    case 2:
      return { type: 'program', info: { programData: pubkey.read(data) } };
    case 3: {
      const slot = data.u64();
      const authority = readOption(data, pubkey.read);
      return { type: 'programData', info: { slot, authority, data: dataAfterHeader(data) } };
    }
    default:
      return null;
  }
}

/**
 * Like nodes, if there is no authority, reads the code from right after the option tag, 32 bytes too early. Source:
 * account-decoder/src/parse_bpf_loader.rs; layout from solana-loader-v3-interface.
 */
function parseBpfUpgradeableLoader(data: Uint8Array): AccountParts | null {
  return readOrNull(data, readLoaderState);
}

/** Source: account-decoder/src/parse_address_lookup_table.rs */
function parseAddressLookupTable(data: Uint8Array): AccountParts | null {
  if (data.length >= 4 && data.subarray(0, 4).every((byte) => byte === 0)) return { type: 'uninitialized' };
  const table = decodeAddressLookupTable(data);
  if (table === null) return null;
  return {
    type: 'lookupTable',
    info: {
      addresses: table.addresses,
      authority: table.authority ?? undefined,
      deactivationSlot: String(table.deactivationSlot),
      lastExtendedSlot: String(table.lastExtendedSlot),
      lastExtendedSlotStartIndex: table.lastExtendedSlotStartIndex,
    },
  };
}

// Parses like Agave 4.2; returns null where nodes return base64. Callers first fetch mints and optionally the clock.
// The output is in wire order with u64 as bigint: write it with `writeJson`.

type ParsedAccount = {
  readonly parsed: WritableJson;
  readonly program: string;
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

/** Never throws on untrusted bytes. Source: account-decoder/src/parse_account_data.rs, `parse_account_data_v3`. */
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
