import type { ByteReader } from '../../../base/bytes.ts';
import type { WritableJson } from '../../../base/json.ts';
import { U64_MAX } from '../../units.ts';
import {
  readAddress,
  readCompactLength,
  readHash,
  readList,
  readName,
  readOption,
  readText,
  readVarint,
  Undecodable,
} from '../bincode.ts';
import type { Members } from '../wire-order.ts';
import { type Variant, variant } from './variant.ts';

/** Full tower. Source: solana-vote-interface, `VoteStateUpdate`. */
function readTower(data: ByteReader): Members {
  return {
    // serde without renaming: the only snake_case member of parsed instructions.
    lockouts: readList(data, () => ({ slot: data.u64(), confirmation_count: data.u32() })),
    root: readOption(data, () => data.u64()),
    hash: readHash(data),
    timestamp: readOption(data, () => data.i64()),
  };
}

function readLockoutOffsets(data: ByteReader, root: bigint): Members[] {
  let slot = root;
  return Array.from({ length: readCompactLength(data) }, () => {
    slot += readVarint(data);
    if (slot > U64_MAX) throw new Undecodable('lockout slot beyond u64');
    return { slot, confirmation_count: data.u8() };
  });
}

/**
 * Compact tower: root (u64::MAX for none), then offsets from the previous slot. Source:
 * solana-vote-interface, `serde_compact_vote_state_update` and `serde_tower_sync`.
 */
function readCompactTower(data: ByteReader): Members {
  const root = data.u64();
  const lockouts = readLockoutOffsets(data, root === U64_MAX ? 0n : root);
  return {
    lockouts,
    root: root === U64_MAX ? null : root,
    hash: readHash(data),
    timestamp: readOption(data, () => data.i64()),
  };
}

const BLS_KEY_BYTES = 48;
const BLS_PROOF_BYTES = 96;

/** A voter with BLS key includes key and proof of possession, in serde form: snake_case, bytes as numbers. */
function authority(data: ByteReader): WritableJson {
  const name = readName(data, ['Voter', 'Withdrawer', 'VoterWithBLS']);
  if (name !== 'VoterWithBLS') return name;
  const bls_pubkey = [...data.bytes(BLS_KEY_BYTES)];
  return { VoterWithBLS: { bls_pubkey, bls_proof_of_possession: [...data.bytes(BLS_PROOF_BYTES)] } };
}

const commissionKind = (data: ByteReader): string => readName(data, ['InflationRewards', 'BlockRevenue']);

const vote = (data: ByteReader): Members => ({
  slots: readList(data, () => data.u64()),
  hash: readHash(data),
  timestamp: readOption(data, () => data.i64()),
});

const votingNames = ['voteAccount', 'slotHashesSysvar', 'clockSysvar', 'voteAuthority'];

/** Tower variants, whose names are lower case on the wire. */
function towerVariant(type: string, member: string, read: (data: ByteReader) => Members): Variant {
  return variant(type, ['voteAccount', 'voteAuthority'], (data) => ({ [member]: read(data) }));
}

/** With the proof hash of a fork switch. */
function switching(type: string, member: string, read: (data: ByteReader) => Members): Variant {
  return variant(type, ['voteAccount', 'voteAuthority'], (data) => ({
    [member]: read(data),
    hash: readHash(data),
  }));
}

const towerSync = (data: ByteReader): Members => ({ ...readCompactTower(data), blockId: readHash(data) });

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

/** Collectors are accounts since solana-vote-interface 6.0. */
const initializeV2 = variant(
  'initializeV2',
  ['voteAccount', 'node', 'inflationRewardsCollector', 'blockRevenueCollector'],
  (data) => {
    readAddress(data); // node again; the account's address is shown
    return {
      authorizedVoter: readAddress(data),
      authorizedVoterBlsPubkey: base64(data.bytes(BLS_KEY_BYTES)),
      authorizedVoterBlsProofOfPossession: base64(data.bytes(BLS_PROOF_BYTES)),
      authorizedWithdrawer: readAddress(data),
      inflationRewardsCommissionBps: data.u16(),
      blockRevenueCommissionBps: data.u16(),
    };
  },
);

/** By u32 discriminant. Source: transaction-status/src/parse_vote.rs; layouts from solana-vote-interface. */
export const voteVariants: readonly Variant[] = [
  variant('initialize', ['voteAccount', 'rentSysvar', 'clockSysvar', 'node'], (data) => {
    readAddress(data); // node again
    return {
      authorizedVoter: readAddress(data),
      authorizedWithdrawer: readAddress(data),
      commission: data.u8(),
    };
  }),
  variant('authorize', ['voteAccount', 'clockSysvar', 'authority'], (data) => ({
    newAuthority: readAddress(data),
    authorityType: authority(data),
  })),
  variant('vote', votingNames, (data) => ({ vote: vote(data) })),
  variant('withdraw', ['voteAccount', 'destination', 'withdrawAuthority'], (data) => ({
    lamports: data.u64(),
  })),
  variant('updateValidatorIdentity', ['voteAccount', 'newValidatorIdentity', 'withdrawAuthority']),
  variant('updateCommission', ['voteAccount', 'withdrawAuthority'], (data) => ({ commission: data.u8() })),
  variant('voteSwitch', votingNames, (data) => ({ vote: vote(data), hash: readHash(data) })),
  variant('authorizeChecked', ['voteAccount', 'clockSysvar', 'authority', 'newAuthority'], (data) => ({
    authorityType: authority(data),
  })),
  towerVariant('updatevotestate', 'voteStateUpdate', readTower),
  switching('updatevotestateswitch', 'voteStateUpdate', readTower),
  variant('authorizeWithSeed', ['voteAccount', 'clockSysvar', 'authorityBaseKey'], (data) => ({
    authorityType: authority(data),
    authorityOwner: readAddress(data),
    authoritySeed: readText(data),
    newAuthority: readAddress(data),
  })),
  variant(
    'authorizeCheckedWithSeed',
    ['voteAccount', 'clockSysvar', 'authorityBaseKey', 'newAuthority'],
    (data) => ({
      authorityType: authority(data),
      authorityOwner: readAddress(data),
      authoritySeed: readText(data),
    }),
  ),
  towerVariant('compactupdatevotestate', 'voteStateUpdate', readCompactTower),
  switching('compactupdatevotestateswitch', 'voteStateUpdate', readCompactTower),
  towerVariant('towersync', 'towerSync', towerSync),
  switching('towersyncswitch', 'towerSync', towerSync),
  initializeV2,
  variant('updateCommissionCollector', ['voteAccount', 'newCollector', 'withdrawAuthority'], (data) => ({
    commissionKind: commissionKind(data),
  })),
  variant('updateCommissionBps', ['voteAccount', 'withdrawAuthority'], (data) => ({
    commissionBps: data.u16(),
    commissionKind: commissionKind(data),
  })),
  variant('depositDelegatorRewards', ['voteAccount', 'source'], (data) => ({ deposit: data.u64() })),
];
