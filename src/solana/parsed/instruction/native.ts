import type { ByteReader } from '../../../base/bytes.ts';
import type { WritableJson } from '../../../base/json.ts';
import { hash, InvalidEncoding, list, struct, u32, u64 } from '../../codec.ts';
import { stakeConfig, sysvars } from '../../programs.ts';
import { readShortVec } from '../../short-vec.ts';
import { U64_MAX } from '../../units.ts';
import { readName, readVarint } from '../bincode.ts';
import { base64, membersReader, type Types } from '../members.ts';
import type { Members } from '../wire-order.ts';
import { nameAddresses, type Variant, variants } from './variant.ts';

// A u32 discriminant selects the variant. Sources: transaction-status/src/parse_*.rs, and the interface crates.

export const bpfLoaderVariants = variants(
  `
  write account: offset u32, bytes base64
  @finalize
`,
  {
    // The second account (rent) is required but not named.
    finalize: (_, given) => (given.length < 2 ? null : { type: 'finalize', info: { account: given[0] } }),
  },
);

export const bpfUpgradeableLoaderVariants = variants(`
  initializeBuffer account authority?
  write account authority: offset u32, bytes base64
  deployWithMaxDataLen payerAccount programDataAccount programAccount bufferAccount rentSysvar clockSysvar
      systemProgram authority: maxDataLen u64
  upgrade programDataAccount programAccount bufferAccount spillAccount rentSysvar clockSysvar authority
  setAuthority account authority newAuthority~
  close account recipient authority programAccount~
  extendProgram programDataAccount programAccount systemProgram~ payerAccount~: additionalBytes u32
  setAuthorityChecked account authority newAuthority
  migrate programDataAccount programAccount authority
  extendProgramChecked programDataAccount programAccount authority systemProgram~ payerAccount~:
      additionalBytes u32
`);

export const addressLookupTableVariants = variants(
  `
  createLookupTable lookupTableAccount lookupTableAuthority payerAccount systemProgram: recentSlot u64,
      bumpSeed u8
  freezeLookupTable lookupTableAccount lookupTableAuthority
  @extendLookupTable
  deactivateLookupTable lookupTableAccount lookupTableAuthority
  closeLookupTable lookupTableAccount lookupTableAuthority recipient
`,
  {
    // The payer is named only if the system program is present as well.
    extendLookupTable: (data, given) => {
      const names = ['lookupTableAccount', 'lookupTableAuthority', 'payerAccount', 'systemProgram'];
      const accounts = nameAddresses(given.length < 4 ? names.slice(0, 2) : names, given);
      const read = membersReader('newAddresses pubkeys');
      return accounts && { type: 'extendLookupTable', info: { ...accounts, ...read(data) } };
    },
  },
);

const prefundedRest = membersReader('space u64, owner pubkey');

/** The payer is named only if there are lamports to pay. */
const createAccountAllowPrefund: Variant = (data, given) => {
  const lamports = data.u64();
  const addresses = nameAddresses(lamports === 0n ? ['newAccount'] : ['newAccount', 'source'], given);
  const paid = lamports === 0n ? {} : { lamports };
  const info = { ...addresses, ...paid, ...prefundedRest(data) };
  return addresses && { type: 'createAccountAllowPrefund', info };
};

/** In `…WithSeed` variants, `base` is read from the data, although the same address is among the accounts. */
export const systemVariants = variants(
  `
  createAccount source newAccount: lamports space u64, owner pubkey
  assign account: owner pubkey
  transfer source destination: lamports u64
  createAccountWithSeed source newAccount: base pubkey, seed text, lamports space u64, owner pubkey
  advanceNonce nonceAccount recentBlockhashesSysvar nonceAuthority
  withdrawFromNonce nonceAccount destination recentBlockhashesSysvar rentSysvar nonceAuthority: lamports u64
  initializeNonce nonceAccount recentBlockhashesSysvar rentSysvar: nonceAuthority pubkey
  authorizeNonce nonceAccount nonceAuthority: newAuthorized pubkey
  allocate account: space u64
  allocateWithSeed account base: base pubkey, seed text, space u64, owner pubkey
  assignWithSeed account base: base pubkey, seed text, owner pubkey
  transferWithSeed source sourceBase destination: lamports u64, sourceSeed text, sourceOwner pubkey
  upgradeNonce nonceAccount
  @createAccountAllowPrefund
`,
  { createAccountAllowPrefund },
);

const stakeTypes: Types = {
  authority: (data) => readName(data, ['Staker', 'Withdrawer']),
  authorized: membersReader('staker withdrawer pubkey'),
  lockup: membersReader('unixTimestamp i64, epoch u64, custodian pubkey'),
  newLockup: membersReader('unixTimestamp i64?, epoch u64?, custodian pubkey?'),
};

/** The clock sysvar marks the old layout. The program no longer reads the config account, so it may be missing. */
const delegate: Variant = (_, given) => {
  const accounts = ['stakeAccount', 'voteAccount'];
  const old = [...accounts, 'clockSysvar', 'stakeHistorySysvar'];
  const config = given[4] === stakeConfig ? ['stakeConfigAccount', 'stakeAuthority?'] : ['stakeAuthority'];
  const names = given[2] === sysvars.clock ? [...old, ...config] : [...accounts, 'stakeAuthority'];
  const info = nameAddresses(names, given);
  return info && { type: 'delegate', info };
};

const checkedLockup = membersReader('unixTimestamp i64?, epoch u64?');

const setLockupChecked: Variant = (data, given) => {
  const accounts = nameAddresses(['stakeAccount', 'custodian'], given);
  const lockup = { ...checkedLockup(data), custodian: given[2] };
  return accounts && { type: 'setLockupChecked', info: { ...accounts, lockup } };
};

export const stakeVariants = variants(
  `
  initialize stakeAccount rentSysvar / stakeAccount: authorized authorized, lockup lockup
  authorize stakeAccount clockSysvar authority custodian? / stakeAccount authority custodian?:
      newAuthority pubkey, authorityType authority
  @delegate
  split stakeAccount newSplitAccount stakeAuthority?: lamports u64
  withdraw stakeAccount destination clockSysvar stakeHistorySysvar withdrawAuthority custodian? /
      stakeAccount destination withdrawAuthority custodian?: lamports u64
  deactivate stakeAccount clockSysvar stakeAuthority? / stakeAccount stakeAuthority
  setLockup stakeAccount custodian: lockup newLockup
  merge destination source clockSysvar stakeHistorySysvar stakeAuthority? / destination source stakeAuthority
  authorizeWithSeed stakeAccount authorityBase clockSysvar custodian? / stakeAccount authorityBase custodian?:
      newAuthorized pubkey, authorityType authority, authoritySeed text, authorityOwner pubkey
  initializeChecked stakeAccount rentSysvar staker withdrawer / stakeAccount staker withdrawer
  authorizeChecked stakeAccount clockSysvar authority newAuthority custodian? /
      stakeAccount authority newAuthority custodian?: authorityType authority
  authorizeCheckedWithSeed stakeAccount authorityBase clockSysvar newAuthorized custodian? /
      stakeAccount authorityBase newAuthorized custodian?:
      authorityType authority, authoritySeed text, authorityOwner pubkey
  @setLockupChecked
  @getMinimumDelegation
  deactivateDelinquent stakeAccount voteAccount referenceVoteAccount
  redelegate stakeAccount newStakeAccount voteAccount stakeConfigAccount stakeAuthority
  moveStake source destination stakeAuthority: lamports u64
  moveLamports source destination stakeAuthority: lamports u64
`,
  { delegate, setLockupChecked, getMinimumDelegation: () => ({ type: 'getMinimumDelegation' }) },
  stakeTypes,
);

// Lockouts are serialized by serde without renaming, so the member name is snake_case.
const lockouts = list(struct({ slot: u64, confirmation_count: u32 }));

function readLockoutOffsets(data: ByteReader, root: bigint): Members[] {
  let slot = root;
  return Array.from({ length: readShortVec(data) }, () => {
    slot += readVarint(data);
    if (slot > U64_MAX) throw new InvalidEncoding('lockout slot beyond u64');
    return { slot, confirmation_count: data.u8() };
  });
}

const towerEnd = membersReader('hash hash, timestamp i64~');

/**
 * Layout: root (u64::MAX for none), then each lockout as an offset from the previous slot. Source:
 * solana-vote-interface, `serde_compact_vote_state_update` and `serde_tower_sync`.
 */
function readCompactTower(data: ByteReader): Members {
  const root = data.u64();
  const lockouts = readLockoutOffsets(data, root === U64_MAX ? 0n : root);
  return { lockouts, root: root === U64_MAX ? null : root, ...towerEnd(data) };
}

const BLS_KEY_BYTES = 48;
const BLS_PROOF_BYTES = 96;

/** In serde's form: snake_case names, bytes as numbers. */
function voteAuthority(data: ByteReader): WritableJson {
  const name = readName(data, ['Voter', 'Withdrawer', 'VoterWithBLS']);
  if (name !== 'VoterWithBLS') return name;
  const bls_pubkey = [...data.bytes(BLS_KEY_BYTES)];
  return { VoterWithBLS: { bls_pubkey, bls_proof_of_possession: [...data.bytes(BLS_PROOF_BYTES)] } };
}

const voteTypes: Types = {
  authority: voteAuthority,
  commissionKind: (data) => readName(data, ['InflationRewards', 'BlockRevenue']),
  vote: membersReader('slots u64s, hash hash, timestamp i64~'),
  tower: membersReader('lockouts lockouts, root u64~, hash hash, timestamp i64~', {
    lockouts: lockouts.read,
  }),
  compactTower: readCompactTower,
  towerSync: (data) => ({ ...readCompactTower(data), blockId: hash.read(data) }),
  blsKey: (data) => base64(data.bytes(BLS_KEY_BYTES)),
  blsProof: (data) => base64(data.bytes(BLS_PROOF_BYTES)),
};

/** Agave writes tower variants in lower case and takes the node from the accounts, not from the data. */
export const voteVariants = variants(
  `
  initialize voteAccount rentSysvar clockSysvar node: _ skippedPubkey,
      authorizedVoter authorizedWithdrawer pubkey, commission u8
  authorize voteAccount clockSysvar authority: newAuthority pubkey, authorityType authority
  vote voteAccount slotHashesSysvar clockSysvar voteAuthority: vote vote
  withdraw voteAccount destination withdrawAuthority: lamports u64
  updateValidatorIdentity voteAccount newValidatorIdentity withdrawAuthority
  updateCommission voteAccount withdrawAuthority: commission u8
  voteSwitch voteAccount slotHashesSysvar clockSysvar voteAuthority: vote vote, hash hash
  authorizeChecked voteAccount clockSysvar authority newAuthority: authorityType authority
  updatevotestate voteAccount voteAuthority: voteStateUpdate tower
  updatevotestateswitch voteAccount voteAuthority: voteStateUpdate tower, hash hash
  authorizeWithSeed voteAccount clockSysvar authorityBaseKey: authorityType authority, authorityOwner pubkey,
      authoritySeed text, newAuthority pubkey
  authorizeCheckedWithSeed voteAccount clockSysvar authorityBaseKey newAuthority: authorityType authority,
      authorityOwner pubkey, authoritySeed text
  compactupdatevotestate voteAccount voteAuthority: voteStateUpdate compactTower
  compactupdatevotestateswitch voteAccount voteAuthority: voteStateUpdate compactTower, hash hash
  towersync voteAccount voteAuthority: towerSync towerSync
  towersyncswitch voteAccount voteAuthority: towerSync towerSync, hash hash
  initializeV2 voteAccount node inflationRewardsCollector blockRevenueCollector: _ skippedPubkey,
      authorizedVoter pubkey, authorizedVoterBlsPubkey blsKey, authorizedVoterBlsProofOfPossession blsProof,
      authorizedWithdrawer pubkey, inflationRewardsCommissionBps blockRevenueCommissionBps u16
  updateCommissionCollector voteAccount newCollector withdrawAuthority: commissionKind commissionKind
  updateCommissionBps voteAccount withdrawAuthority: commissionBps u16, commissionKind commissionKind
  depositDelegatorRewards voteAccount source: deposit u64
`,
  {},
  voteTypes,
);
