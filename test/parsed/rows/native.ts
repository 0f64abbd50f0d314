import { programs } from '../../../src/solana/programs.ts';
import { type Rows, rowsOf } from './row.ts';

/** Sources: the Rust interface crates. Stake has old layouts with sysvars and new ones without. */
export const nativeRows: readonly Rows[] = [
  rowsOf(
    'address-lookup-table',
    programs.addressLookupTable,
    `
  createLookupTable | 0:32 42:64 254 | 4 | lookupTableAccount=@1 lookupTableAuthority=@2 payerAccount=@3
    systemProgram=@4 recentSlot=42 bumpSeed=254;
  freezeLookupTable | 1:32 | 2 | lookupTableAccount=@1 lookupTableAuthority=@2;
  extendLookupTable | 2:32 2:64 @8 @9 | 4 /2 | lookupTableAccount=@1 lookupTableAuthority=@2 payerAccount=@3
    systemProgram=@4 newAddresses=[@8,@9];
  extendLookupTable | 2:32 0:64 | 3 /2 | lookupTableAccount=@1 lookupTableAuthority=@2 newAddresses=[];
  deactivateLookupTable | 3:32 | 2 | lookupTableAccount=@1 lookupTableAuthority=@2;
  closeLookupTable | 4:32 | 3 | lookupTableAccount=@1 lookupTableAuthority=@2 recipient=@3;
  `,
  ),
  rowsOf(
    'bpf-loader',
    programs.bpfLoader2,
    `
  write | 0:32 42:32 2:64 8 8 | 1 | offset=42 bytes="CAg=" account=@1;
  finalize | 1:32 | 2 | account=@1;
  `,
  ),
  rowsOf(
    'bpf-upgradeable-loader',
    programs.bpfUpgradeableLoader,
    `
  initializeBuffer | 0:32 | 2 /1 | account=@1 authority=@2;
  initializeBuffer | 0:32 | 1 | account=@1;
  write | 1:32 42:32 1:64 8 | 2 | offset=42 bytes="CA==" account=@1 authority=@2;
  deployWithMaxDataLen | 2:32 99:64 | 8 | maxDataLen=99 payerAccount=@1 programDataAccount=@2
    programAccount=@3 bufferAccount=@4 rentSysvar=@5 clockSysvar=@6 systemProgram=@7 authority=@8;
  upgrade | 3:32 | 7 | programDataAccount=@1 programAccount=@2 bufferAccount=@3 spillAccount=@4 rentSysvar=@5
    clockSysvar=@6 authority=@7;
  setAuthority | 4:32 | 3 /2 | account=@1 authority=@2 newAuthority=@3;
  setAuthority | 4:32 | 2 | account=@1 authority=@2 newAuthority=null;
  close | 5:32 | 4 /3 | account=@1 recipient=@2 authority=@3 programAccount=@4;
  close | 5:32 | 3 | account=@1 recipient=@2 authority=@3 programAccount=null;
  extendProgram | 6:32 99:32 | 4 /2 | additionalBytes=99 programDataAccount=@1 programAccount=@2
    systemProgram=@3 payerAccount=@4;
  extendProgram | 6:32 99:32 | 2 | additionalBytes=99 programDataAccount=@1 programAccount=@2
    systemProgram=null payerAccount=null;
  setAuthorityChecked | 7:32 | 3 | account=@1 authority=@2 newAuthority=@3;
  migrate | 8:32 | 3 | programDataAccount=@1 programAccount=@2 authority=@3;
  extendProgramChecked | 9:32 99:32 | 5 /3 | additionalBytes=99 programDataAccount=@1 programAccount=@2
    authority=@3 systemProgram=@4 payerAccount=@5;
  `,
  ),
  rowsOf(
    'stake',
    programs.stake,
    `
  initialize | 0:32 @6 @7 -5:64 9:64 @8 | @1 $rent /1 | stakeAccount=@1 rentSysvar=$rent
    authorized={staker:@6,withdrawer:@7} lockup={unixTimestamp:-5,epoch:9,custodian:@8};
  authorize | 1:32 @6 0:32 | @1 $clock @3 @4 /3 | stakeAccount=@1 clockSysvar=$clock authority=@3 custodian=@4
    newAuthority=@6 authorityType="Staker";
  authorize | 1:32 @6 1:32 | 2 | stakeAccount=@1 authority=@2 newAuthority=@6 authorityType="Withdrawer";
  delegate | 2:32 | @1 @2 $clock @4 $stakeConfig @6 /5 | stakeAccount=@1 voteAccount=@2 clockSysvar=$clock
    stakeHistorySysvar=@4 stakeConfigAccount=$stakeConfig stakeAuthority=@6;
  delegate | 2:32 | 3 | stakeAccount=@1 voteAccount=@2 stakeAuthority=@3;
  split | 3:32 5:64 | 3 /2 | stakeAccount=@1 newSplitAccount=@2 stakeAuthority=@3 lamports=5;
  withdraw | 4:32 5:64 | @1 @2 $clock @4 @5 | stakeAccount=@1 destination=@2 clockSysvar=$clock
    stakeHistorySysvar=@4 withdrawAuthority=@5 lamports=5;
  withdraw | 4:32 5:64 | 4 /3 | stakeAccount=@1 destination=@2 withdrawAuthority=@3 custodian=@4 lamports=5;
  deactivate | 5:32 | @1 $clock @3 /2 | stakeAccount=@1 clockSysvar=$clock stakeAuthority=@3;
  setLockup | 6:32 1 7:64 0 1 @8 | 2 | stakeAccount=@1 custodian=@2 lockup={unixTimestamp:7,custodian:@8};
  merge | 7:32 | @1 @2 $clock @4 @5 /4 | destination=@1 source=@2 clockSysvar=$clock stakeHistorySysvar=@4
    stakeAuthority=@5;
  authorizeWithSeed | 8:32 @6 1:32 64's' @7 | @1 @2 $clock @4 /2 | stakeAccount=@1 authorityBase=@2
    clockSysvar=$clock custodian=@4 newAuthorized=@6 authorityType="Withdrawer" authoritySeed="s"
    authorityOwner=@7;
  initializeChecked | 9:32 | @1 $rent @3 @4 | stakeAccount=@1 rentSysvar=$rent staker=@3 withdrawer=@4;
  authorizeChecked | 10:32 0:32 | @1 $clock @3 @4 | stakeAccount=@1 clockSysvar=$clock authority=@3
    newAuthority=@4 authorityType="Staker";
  authorizeCheckedWithSeed | 11:32 0:32 64's' @7 | @1 @2 $clock @4 | stakeAccount=@1 authorityBase=@2
    clockSysvar=$clock newAuthorized=@4 authorityType="Staker" authoritySeed="s" authorityOwner=@7;
  setLockupChecked | 12:32 0 1 9:64 | 3 /2 | stakeAccount=@1 custodian=@2 lockup={epoch:9,custodian:@3};
  getMinimumDelegation | 13:32 | 1 |;
  deactivateDelinquent | 14:32 | 3 | stakeAccount=@1 voteAccount=@2 referenceVoteAccount=@3;
  redelegate | 15:32 | 5 | stakeAccount=@1 newStakeAccount=@2 voteAccount=@3 stakeConfigAccount=@4
    stakeAuthority=@5;
  moveStake | 16:32 5:64 | 3 | source=@1 destination=@2 stakeAuthority=@3 lamports=5;
  moveLamports | 17:32 5:64 | 3 | source=@1 destination=@2 stakeAuthority=@3 lamports=5;
  initialize | 0:32 @6 @7 5:64 9:64 @8 | 1 | stakeAccount=@1 authorized={staker:@6,withdrawer:@7}
    lockup={unixTimestamp:5,epoch:9,custodian:@8};
  delegate | 2:32 | @1 @2 $clock @4 @5 | stakeAccount=@1 voteAccount=@2 clockSysvar=$clock
    stakeHistorySysvar=@4 stakeAuthority=@5;
  deactivate | 5:32 | 2 | stakeAccount=@1 stakeAuthority=@2;
  setLockup | 6:32 0 1 9:64 0 | 2 | stakeAccount=@1 custodian=@2 lockup={epoch:9};
  merge | 7:32 | 3 | destination=@1 source=@2 stakeAuthority=@3;
  authorizeWithSeed | 8:32 @6 0:32 64's' @7 | 3 /2 | stakeAccount=@1 authorityBase=@2 custodian=@3
    newAuthorized=@6 authorityType="Staker" authoritySeed="s" authorityOwner=@7;
  initializeChecked | 9:32 | 3 | stakeAccount=@1 staker=@2 withdrawer=@3;
  authorizeChecked | 10:32 1:32 | 4 /3 | stakeAccount=@1 authority=@2 newAuthority=@3 custodian=@4
    authorityType="Withdrawer";
  authorizeCheckedWithSeed | 11:32 0:32 64's' @7 | 3 | stakeAccount=@1 authorityBase=@2 newAuthorized=@3
    authorityType="Staker" authoritySeed="s" authorityOwner=@7;
  setLockupChecked | 12:32 1 7:64 0 | 2 | stakeAccount=@1 custodian=@2 lockup={unixTimestamp:7};
  `,
  ),
  rowsOf(
    'system',
    programs.system,
    `
  createAccount | 0:32 5:64 6:64 @9 | 2 | source=@1 newAccount=@2 lamports=5 space=6 owner=@9;
  assign | 1:32 @9 | 1 | account=@1 owner=@9;
  transfer | 2:32 5:64 | 2 | source=@1 destination=@2 lamports=5;
  createAccountWithSeed | 3:32 @8 64'seed' 5:64 6:64 @9 | 2 | source=@1 newAccount=@2 base=@8 seed="seed"
    lamports=5 space=6 owner=@9;
  advanceNonce | 4:32 | 3 | nonceAccount=@1 recentBlockhashesSysvar=@2 nonceAuthority=@3;
  withdrawFromNonce | 5:32 5:64 | 5 | nonceAccount=@1 destination=@2 recentBlockhashesSysvar=@3 rentSysvar=@4
    nonceAuthority=@5 lamports=5;
  initializeNonce | 6:32 @9 | 3 | nonceAccount=@1 recentBlockhashesSysvar=@2 rentSysvar=@3 nonceAuthority=@9;
  authorizeNonce | 7:32 @9 | 2 | nonceAccount=@1 nonceAuthority=@2 newAuthorized=@9;
  allocate | 8:32 6:64 | 1 | account=@1 space=6;
  allocateWithSeed | 9:32 @8 64'é' 6:64 @9 | 2 | account=@1 base=@8 seed="é" space=6 owner=@9;
  assignWithSeed | 10:32 @8 64'' @9 | 2 | account=@1 base=@8 seed="" owner=@9;
  transferWithSeed | 11:32 5:64 64's' @9 | 3 | source=@1 sourceBase=@2 destination=@3 lamports=5
    sourceSeed="s" sourceOwner=@9;
  upgradeNonce | 12:32 | 1 | nonceAccount=@1;
  createAccountAllowPrefund | 13:32 5:64 6:64 @9 | 2 | newAccount=@1 source=@2 lamports=5 space=6 owner=@9;
  createAccountAllowPrefund | 13:32 0:64 6:64 @9 | 1 | newAccount=@1 space=6 owner=@9;
  transfer | 2:32 18446744073709551615:64 | 2 | source=@1 destination=@2 lamports=18446744073709551615;
  `,
  ),
  rowsOf(
    'vote',
    programs.vote,
    `
  initialize | 0:32 @7 @8 @9 10 | 4 | voteAccount=@1 rentSysvar=@2 clockSysvar=@3 node=@4 authorizedVoter=@8
    authorizedWithdrawer=@9 commission=10;
  authorize | 1:32 @6 1:32 | 3 | voteAccount=@1 clockSysvar=@2 authority=@3 newAuthority=@6
    authorityType="Withdrawer";
  vote | 2:32 2:64 7:64 9:64 @8 1 -3:64 | 4 | voteAccount=@1 slotHashesSysvar=@2 clockSysvar=@3
    voteAuthority=@4 vote={slots:[7,9],hash:@8,timestamp:-3};
  withdraw | 3:32 5:64 | 3 | voteAccount=@1 destination=@2 withdrawAuthority=@3 lamports=5;
  updateValidatorIdentity | 4:32 | 3 | voteAccount=@1 newValidatorIdentity=@2 withdrawAuthority=@3;
  updateCommission | 5:32 7 | 2 | voteAccount=@1 withdrawAuthority=@2 commission=7;
  voteSwitch | 6:32 2:64 7:64 9:64 @8 1 -3:64 @9 | 4 | voteAccount=@1 slotHashesSysvar=@2 clockSysvar=@3
    voteAuthority=@4 vote={slots:[7,9],hash:@8,timestamp:-3} hash=@9;
  authorizeChecked | 7:32 0:32 | 4 | voteAccount=@1 clockSysvar=@2 authority=@3 newAuthority=@4
    authorityType="Voter";
  authorizeChecked | 7:32 2:32 48*5 96*6 | 4 | voteAccount=@1 clockSysvar=@2 authority=@3 newAuthority=@4
    authorityType={VoterWithBLS:{bls_pubkey:#48*5,bls_proof_of_possession:#96*6}};
  updatevotestate | 8:32 1:64 101:64 3:32 1 100:64 @8 0 | 2 | voteAccount=@1 voteAuthority=@2
    voteStateUpdate={lockouts:[{slot:101,confirmation_count:3}],root:100,hash:@8,timestamp:null};
  updatevotestateswitch | 9:32 1:64 101:64 3:32 1 100:64 @8 0 @9 | 2 | voteAccount=@1 voteAuthority=@2
    voteStateUpdate={lockouts:[{slot:101,confirmation_count:3}],root:100,hash:@8,timestamp:null} hash=@9;
  authorizeWithSeed | 10:32 0:32 @6 64's' @7 | 3 | voteAccount=@1 clockSysvar=@2 authorityBaseKey=@3
    authorityOwner=@6 authoritySeed="s" newAuthority=@7 authorityType="Voter";
  authorizeCheckedWithSeed | 11:32 1:32 @6 64's' | 4 | voteAccount=@1 clockSysvar=@2 authorityBaseKey=@3
    authorityOwner=@6 authoritySeed="s" newAuthority=@4 authorityType="Withdrawer";
  compactupdatevotestate | 12:32 100:64 1 1 3 @8 0 | 2 | voteAccount=@1 voteAuthority=@2
    voteStateUpdate={lockouts:[{slot:101,confirmation_count:3}],root:100,hash:@8,timestamp:null};
  compactupdatevotestateswitch | 13:32 100:64 1 1 3 @8 0 @9 | 2 | voteAccount=@1 voteAuthority=@2
    voteStateUpdate={lockouts:[{slot:101,confirmation_count:3}],root:100,hash:@8,timestamp:null} hash=@9;
  towersync | 14:32 100:64 1 1 3 @8 0 @9 | 2 | voteAccount=@1 voteAuthority=@2
    towerSync={lockouts:[{slot:101,confirmation_count:3}],root:100,hash:@8,timestamp:null,blockId:@9};
  towersyncswitch | 15:32 100:64 1 1 3 @8 0 @9 @7 | 2 | voteAccount=@1 voteAuthority=@2
    towerSync={lockouts:[{slot:101,confirmation_count:3}],root:100,hash:@8,timestamp:null,blockId:@9} hash=@7;
  initializeV2 | 16:32 @7 @8 48*5 96*6 @9 500:16 10000:16 | 4 | voteAccount=@1 node=@2
    inflationRewardsCollector=@3 blockRevenueCollector=@4 authorizedVoter=@8 authorizedVoterBlsPubkey=48*5
    authorizedVoterBlsProofOfPossession=96*6 authorizedWithdrawer=@9 inflationRewardsCommissionBps=500
    blockRevenueCommissionBps=10000;
  updateCommissionCollector | 17:32 1:32 | 3 | voteAccount=@1 newCollector=@2 withdrawAuthority=@3
    commissionKind="BlockRevenue";
  updateCommissionBps | 18:32 250:16 0:32 | 2 | voteAccount=@1 withdrawAuthority=@2 commissionBps=250
    commissionKind="InflationRewards";
  depositDelegatorRewards | 19:32 5:64 | 2 | voteAccount=@1 source=@2 deposit=5;
  updatevotestate | 8:32 0:64 0 @8 1 -7:64 | 2 | voteAccount=@1 voteAuthority=@2
    voteStateUpdate={lockouts:[],root:null,hash:@8,timestamp:-7};
  compactupdatevotestate | 12:32 18446744073709551615:64 3 1 3 2 2 200 1 1 @8 1 -7:64 | 2 | voteAccount=@1
    voteAuthority=@2
    voteStateUpdate={lockouts:[{slot:1,confirmation_count:3},{slot:3,confirmation_count:2},
    {slot:203,confirmation_count:1}],root:null,hash:@8,timestamp:-7};
  `,
  ),
];
