import type { ByteReader } from '../../../base/bytes.ts';
import type { Address } from '../../address.ts';
import { stakeConfig, sysvars } from '../../programs.ts';
import { readAddress, readName, readOption, readText } from '../bincode.ts';
import { type Variant, variant } from './variant.ts';

const authority = (data: ByteReader): string => readName(data, ['Staker', 'Withdrawer']);

/**
 * The BPF stake program accepts old layouts with sysvars and short ones without; a sysvar at its old
 * position identifies the former.
 */
const hasClockAt =
  (position: number, withClock: string[], without: string[]) => (given: readonly Address[]) =>
    given[position] === sysvars.clock ? withClock : without;

function delegateNames(given: readonly Address[]): string[] {
  const accounts = ['stakeAccount', 'voteAccount'];
  if (given[2] !== sysvars.clock) return [...accounts, 'stakeAuthority'];
  const long = [...accounts, 'clockSysvar', 'stakeHistorySysvar'];
  // The config account is optional since the program no longer reads it.
  return given[4] === stakeConfig
    ? [...long, 'stakeConfigAccount', 'stakeAuthority?']
    : [...long, 'stakeAuthority'];
}

const lockup = (data: ByteReader) => ({
  unixTimestamp: readOption(data, () => data.i64()) ?? undefined,
  epoch: readOption(data, () => data.u64()) ?? undefined,
});

const transferBetweenStakes = (type: string): Variant =>
  variant(type, ['source', 'destination', 'stakeAuthority'], (data) => ({ lamports: data.u64() }));

const getMinimumDelegation: Variant = () => ({ type: 'getMinimumDelegation' });

/**
 * By u32 discriminant. Lamports are integers. Source: transaction-status/src/parse_stake.rs; layouts from
 * solana-stake-interface.
 */
export const stakeVariants: readonly Variant[] = [
  variant(
    'initialize',
    (given) => (given[1] === sysvars.rent ? ['stakeAccount', 'rentSysvar'] : ['stakeAccount']),
    (data) => ({
      authorized: { staker: readAddress(data), withdrawer: readAddress(data) },
      lockup: { unixTimestamp: data.i64(), epoch: data.u64(), custodian: readAddress(data) },
    }),
  ),
  variant(
    'authorize',
    hasClockAt(
      1,
      ['stakeAccount', 'clockSysvar', 'authority', 'custodian?'],
      ['stakeAccount', 'authority', 'custodian?'],
    ),
    (data) => ({ newAuthority: readAddress(data), authorityType: authority(data) }),
  ),
  variant('delegate', delegateNames),
  variant('split', ['stakeAccount', 'newSplitAccount', 'stakeAuthority?'], (data) => ({
    lamports: data.u64(),
  })),
  variant(
    'withdraw',
    hasClockAt(
      2,
      ['stakeAccount', 'destination', 'clockSysvar', 'stakeHistorySysvar', 'withdrawAuthority', 'custodian?'],
      ['stakeAccount', 'destination', 'withdrawAuthority', 'custodian?'],
    ),
    (data) => ({ lamports: data.u64() }),
  ),
  variant(
    'deactivate',
    hasClockAt(1, ['stakeAccount', 'clockSysvar', 'stakeAuthority?'], ['stakeAccount', 'stakeAuthority']),
  ),
  variant('setLockup', ['stakeAccount', 'custodian'], (data) => ({
    lockup: { ...lockup(data), custodian: readOption(data, () => readAddress(data)) ?? undefined },
  })),
  variant(
    'merge',
    hasClockAt(
      2,
      ['destination', 'source', 'clockSysvar', 'stakeHistorySysvar', 'stakeAuthority?'],
      ['destination', 'source', 'stakeAuthority'],
    ),
  ),
  variant(
    'authorizeWithSeed',
    hasClockAt(
      2,
      ['stakeAccount', 'authorityBase', 'clockSysvar', 'custodian?'],
      ['stakeAccount', 'authorityBase', 'custodian?'],
    ),
    (data) => ({
      newAuthorized: readAddress(data),
      authorityType: authority(data),
      authoritySeed: readText(data),
      authorityOwner: readAddress(data),
    }),
  ),
  variant('initializeChecked', (given) =>
    given[1] === sysvars.rent
      ? ['stakeAccount', 'rentSysvar', 'staker', 'withdrawer']
      : ['stakeAccount', 'staker', 'withdrawer'],
  ),
  variant(
    'authorizeChecked',
    hasClockAt(
      1,
      ['stakeAccount', 'clockSysvar', 'authority', 'newAuthority', 'custodian?'],
      ['stakeAccount', 'authority', 'newAuthority', 'custodian?'],
    ),
    (data) => ({ authorityType: authority(data) }),
  ),
  variant(
    'authorizeCheckedWithSeed',
    hasClockAt(
      2,
      ['stakeAccount', 'authorityBase', 'clockSysvar', 'newAuthorized', 'custodian?'],
      ['stakeAccount', 'authorityBase', 'newAuthorized', 'custodian?'],
    ),
    (data) => ({
      authorityType: authority(data),
      authoritySeed: readText(data),
      authorityOwner: readAddress(data),
    }),
  ),
  variant('setLockupChecked', ['stakeAccount', 'custodian'], (data, given) => ({
    lockup: { ...lockup(data), custodian: given[2] },
  })),
  getMinimumDelegation,
  variant('deactivateDelinquent', ['stakeAccount', 'voteAccount', 'referenceVoteAccount']),
  variant('redelegate', [
    'stakeAccount',
    'newStakeAccount',
    'voteAccount',
    'stakeConfigAccount',
    'stakeAuthority',
  ]),
  transferBetweenStakes('moveStake'),
  transferBetweenStakes('moveLamports'),
];
