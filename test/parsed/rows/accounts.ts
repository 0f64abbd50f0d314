import type { JsonValue } from '../../../src/base/json.ts';
import type { Address } from '../../../src/solana/address.ts';
import { programs, sysvarOwner, sysvars } from '../../../src/solana/programs.ts';
import { bytesOf, membersOf, table } from './row.ts';

export type AccountRow = Readonly<{
  program: string;
  type: string;
  owner: Address;
  data: Uint8Array;
  at: Address | undefined;
  info: JsonValue | undefined;
}>;

const owners: Readonly<Record<string, Address>> = {
  'address-lookup-table': programs.addressLookupTable,
  'bpf-upgradeable-loader': programs.bpfUpgradeableLoader,
  nonce: programs.system,
  stake: programs.stake,
  'spl-token': programs.token,
  'spl-token-2022': programs.token2022,
  vote: programs.vote,
  sysvar: sysvarOwner,
};

/** Meta of a stake account after its tag: reserve, authorities, lockup. */
const meta = '2282880:64 @2 @3 -4:64 5:64 @6';
const shownMeta = `meta={rentExemptReserve:"2282880",authorized:{staker:@2,withdrawer:@3},
    lockup:{unixTimestamp:-4,epoch:5,custodian:@6}}`;
const mint = '1:32 @2 42:64 3 1 0:32 32*0';
const shownMint = 'mintAuthority=@2 supply="42" decimals=3 isInitialized=true freezeAuthority=null';
const max = '18446744073709551615';
/** 32 voters with their epochs, the index and whether the ring is empty. */
const NO_PRIOR_VOTERS = `${32 * 48}*0 31:64 1`;
const shownVote = `nodePubkey=@2 authorizedWithdrawer=@3 votes=[] rootSlot=null authorizedVoters=[]
    priorVoters=[] epochCredits=[] lastTimestamp={slot:0,timestamp:0}`;

/** Types written by Agave's account-decoder: program and type, bytes, info. A list is the member `list`. */
export const accountRows: readonly AccountRow[] = table(`
  address-lookup-table uninitialized | 0:32 52*0;
  address-lookup-table lookupTable | 1:32 ${max}:64 7:64 3 1 @8 0:16 @9 | deactivationSlot="${max}"
    lastExtendedSlot="7" lastExtendedSlotStartIndex=3 authority=@8 addresses=[@9];
  address-lookup-table lookupTable | 1:32 9:64 7:64 0 0 32*0 2*0 @9 @8 | deactivationSlot="9"
    lastExtendedSlot="7" lastExtendedSlotStartIndex=0 addresses=[@9,@8];
  bpf-upgradeable-loader uninitialized | 0:32;
  bpf-upgradeable-loader buffer | 1:32 1 @8 7 | authority=@8 data=["Bw==","base64"];
  bpf-upgradeable-loader buffer | 1:32 0 9 | authority=null data=["CQ==","base64"];
  bpf-upgradeable-loader program | 2:32 @8 | programData=@8;
  bpf-upgradeable-loader programData | 3:32 42:64 0 7 | slot=42 authority=null data=["Bw==","base64"];
  bpf-upgradeable-loader programData | 3:32 7:64 1 @5 1 2 3 | slot=7 authority=@5 data=["AQID","base64"];
  nonce initialized | 1:32 1:32 @2 @3 5000:64 | authority=@2 blockhash=@3
    feeCalculator={lamportsPerSignature:"5000"};
  stake uninitialized | 0:32 196*0;
  stake initialized | 1:32 ${meta} 80*0 | ${shownMeta} stake=null;
  stake delegated | 2:32 ${meta} @7 20:64 2:64 ${max}:64 0.25:f64 10:64 0 | ${shownMeta}
    stake={delegation:{voter:@7,stake:"20",activationEpoch:"2",deactivationEpoch:"${max}"},
    creditsObserved:10};
  stake rewardsPool | 3:32;
  spl-token mint | ${mint} | ${shownMint};
  spl-token-2022 mint | ${mint} | ${shownMint};
  spl-token account | @2 @3 42:64 1:32 @4 2 0:32 0:64 40:64 1:32 @5 | mint=@2 owner=@3 tokenAmount=ui(42,2)
    delegate=@4 delegatedAmount=ui(40,2) state="frozen" isNative=false closeAuthority=@5;
  spl-token multisig | 1 2 1 @2 @3 288*0 | numRequiredSigners=1 numValidSigners=2 isInitialized=true
    signers=[@2,@3];
  vote vote | 3:32 @2 @3 @4 @5 101:16 10000:16 6:64 0 1:64 1 100:64 2:32 1 69:64 2:64 8:64 @8 7:64 @7
    1:64 7:64 20:64 10:64 100:64 -5:64 | nodePubkey=@2 authorizedWithdrawer=@3 inflationRewardsCollector=@4
    blockRevenueCollector=@5 commission=2 inflationRewardsCommissionBps=101 blockRevenueCommissionBps=10000
    pendingDelegatorRewards="6" blsPubkeyCompressed=null votes=[{latency:1,slot:100,confirmationCount:2}]
    rootSlot=69 authorizedVoters=[{epoch:7,authorizedVoter:@7},{epoch:8,authorizedVoter:@8}] priorVoters=[]
    epochCredits=[{epoch:7,credits:"20",previousCredits:"10"}] lastTimestamp={slot:100,timestamp:-5};
  vote vote | 3:32 @2 @3 @4 @5 1050:16 0:16 11:64 1 48*0 0:64 0 0:64 0:64 0:64 0:64 | ${shownVote}
    commission=11 inflationRewardsCollector=@4 blockRevenueCollector=@5 inflationRewardsCommissionBps=1050
    blockRevenueCommissionBps=0 pendingDelegatorRewards="11" blsPubkeyCompressed="${'1'.repeat(48)}";
  vote vote | 2:32 @2 @3 7 0:64 0 0:64 ${NO_PRIOR_VOTERS} 0:64 0:64 0:64 | ${shownVote} commission=7
    inflationRewardsCollector=@99 blockRevenueCollector=@2 inflationRewardsCommissionBps=700
    blockRevenueCommissionBps=10000 pendingDelegatorRewards="0" blsPubkeyCompressed=null;
  sysvar clock | 1:64 -2:64 3:64 4:64 5:64 | slot=1 epochStartTimestamp=-2 epoch=3 leaderScheduleEpoch=4
    unixTimestamp=5;
  sysvar epochSchedule | 12:64 13:64 1 1:64 14:64 | slotsPerEpoch=12 leaderScheduleSlotOffset=13 warmup=true
    firstNormalEpoch=1 firstNormalSlot=14;
  sysvar fees | 5000:64 | feeCalculator={lamportsPerSignature:"5000"};
  sysvar recentBlockhashes | 1:64 @2 5000:64 | list=[{blockhash:@2,
    feeCalculator:{lamportsPerSignature:"5000"}}];
  sysvar rent | 6960:64 1:f64 50 | lamportsPerByte="6960";
  sysvar rent | 3480:64 2:f64 50 | lamportsPerByte="6960";
  sysvar rewards | 2:f64 0:f64 | validatorPointValue=2;
  sysvar slotHashes | 1:64 7:64 @2 | list=[{slot:7,hash:@2}];
  sysvar stakeHistory | 1:64 7:64 10:64 2:64 3:64 |
    list=[{epoch:7,stakeHistory:{effective:10,activating:2,deactivating:3}}];
  sysvar lastRestartSlot | 1282:64 | lastRestartSlot=1282;
  sysvar epochRewards | 42:64 2:64 @2 3:64 1:64 100:64 20:64 1 | distributionStartingBlockHeight=42
    numPartitions=2 parentBlockhash=@2 totalPoints="18446744073709551619" totalRewards="100"
    distributedRewards="20" active=true;
`).map(([head = '', data = '', text = '']) => {
  const [program = '', type = ''] = head.split(' ');
  const info = text === '' ? undefined : membersOf(text);
  return {
    ...{ program, type, owner: owners[program] as Address, data: bytesOf(data), info: info?.list ?? info },
    at: program === 'sysvar' ? sysvars[type as keyof typeof sysvars] : undefined,
  };
});
