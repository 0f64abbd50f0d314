import type { ByteReader } from '../../../base/bytes.ts';
import { readAddress, readHash, readList, readName, readOption, readText } from '../bincode.ts';
import type { Members } from '../wire-order.ts';
import { readCompactTower, readTower } from './tower.ts';
import { type Variant, variant } from './variant.ts';

/** A vote key with a BLS key (a third kind of authority) is not parsed. */
const authority = (data: ByteReader): string => readName(data, ['Voter', 'Withdrawer']);
const commissionKind = (data: ByteReader): string => readName(data, ['InflationRewards', 'BlockRevenue']);

const vote = (data: ByteReader): Members => ({
  slots: readList(data, () => data.u64()),
  hash: readHash(data),
  timestamp: readOption(data, () => data.i64()),
});

const votingNames = ['voteAccount', 'slotHashesSysvar', 'clockSysvar', 'voteAuthority'];

/** The variants that replace the whole tower; their names are all lower-case on the wire. */
function towerVariant(type: string, member: string, read: (data: ByteReader) => Members): Variant {
  return variant(type, ['voteAccount', 'voteAuthority'], (data) => ({ [member]: read(data) }));
}

/** The same with the proof hash of a fork switch at the end. */
function switching(type: string, member: string, read: (data: ByteReader) => Members): Variant {
  return variant(type, ['voteAccount', 'voteAuthority'], (data) => ({
    [member]: read(data),
    hash: readHash(data),
  }));
}

const towerSync = (data: ByteReader): Members => ({ ...readCompactTower(data), blockId: readHash(data) });

const BLS_KEY_AND_PROOF_BYTES = 48 + 96;

const initializeV2 = variant('initializeV2', ['voteAccount', 'node'], (data) => {
  readAddress(data); // the node again: the account's address is the one that is shown
  const authorizedVoter = readAddress(data);
  data.skip(BLS_KEY_AND_PROOF_BYTES);
  return {
    authorizedVoter,
    authorizedWithdrawer: readAddress(data),
    inflationRewardsCommissionBps: data.u16(),
    inflationRewardsCollector: readAddress(data),
    blockRevenueCommissionBps: data.u16(),
    blockRevenueCollector: readAddress(data),
  };
});

/**
 * The vote program's instructions by their u32 discriminant.
 * Source: transaction-status/src/parse_vote.rs; layouts from solana-vote-interface.
 */
export const voteVariants: readonly Variant[] = [
  variant('initialize', ['voteAccount', 'rentSysvar', 'clockSysvar', 'node'], (data) => {
    readAddress(data); // the node again, as above
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
