import { describe, expect, it } from 'vitest';
import { type JsonValue, writeJson } from '../../src/base/json.ts';
import { type Address, address, addressBytes } from '../../src/solana/address.ts';
import { parseAccountData } from '../../src/solana/parsed/parse-account.ts';
import { programs, stakeConfig, sysvarOwner, sysvars } from '../../src/solana/programs.ts';
import { lamports } from '../../src/solana/units.ts';
import { bytesOf, fill, k, membersOf, shownAccount, table } from './rows/row.ts';

type AccountRow = Readonly<{
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
const accountRows: readonly AccountRow[] = table(`
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

const validatorInfo = address('Va1idator1nfo111111111111111111111111111111');

describe('parsed accounts', () => {
  it.each(accountRows)('$program $type matches its row (%#)', ({ program, type, owner, data, at, info }) => {
    const parsed = info === undefined ? { type } : { type, info };
    expect(shownAccount(owner, data, at)).toEqual({ program, parsed, space: data.length });
  });

  it.each(accountRows)('$program $type is unparsed when cut in half (%#)', ({ owner, data, at, info }) => {
    if (info !== undefined && !('data' in (info as object))) {
      expect(shownAccount(owner, data.subarray(0, data.length >> 1), at)).toBeNull();
    }
  });

  it.each([
    ['an uninitialized nonce', programs.system, '1:32 0:32 72*0'],
    ['an empty system account', programs.system, ''],
    ['an unknown stake state', programs.stake, '4:32'],
    ['an empty vote account', programs.vote, '3762*0'],
    ['a lookup table with an invalid option', programs.addressLookupTable, '1:32 9:64 7:64 0 2 34*0'],
    ['an empty lookup table', programs.addressLookupTable, ''],
    ['a truncated program', programs.bpfUpgradeableLoader, '2:32 1'],
    ['a buffer with an invalid option', programs.bpfUpgradeableLoader, '1:32 2 32*1'],
    ['an unknown loader state', programs.bpfUpgradeableLoader, '4:32'],
  ])('of %s are unparsed', (_, owner, data) => {
    expect(shownAccount(owner, bytesOf(data))).toBeNull();
  });

  it('show the slot history as bits', () => {
    const WORDS = 16_384;
    const data = bytesOf(`1 ${WORDS}:64 5:64 ${8 * (WORDS - 1)}*0 1048576:64 43:64`);
    const bits = `101${'0'.repeat(1_048_573)}`;
    expect(shownAccount(sysvarOwner, data, sysvars.slotHistory)).toMatchObject({
      parsed: { type: 'slotHistory', info: { nextSlot: 43, bits } },
    });
  });

  it('cover only programs that nodes parse', () => {
    expect(shownAccount(programs.memoV3, fill(40, 1))).toBeNull();
    expect(shownAccount(sysvarOwner, fill(40, 1), sysvars.instructions)).toBeNull();
  });
});

describe('config program account', () => {
  const configOf = (json: string, first: Address = validatorInfo): Uint8Array =>
    Buffer.concat([
      bytesOf('2'),
      addressBytes(first),
      bytesOf(`0 @9 1 ${Buffer.byteLength(json)}:64`),
      Buffer.from(json),
    ]);
  const data = (json: string): JsonValue => {
    const parsed = shownAccount(programs.config, configOf(json)) as {
      parsed: { info: Record<string, JsonValue> };
    } | null;
    return parsed === null ? 'not parsed' : (parsed.parsed.info.configData ?? null);
  };

  it('shows validator info', () => {
    expect(shownAccount(programs.config, configOf('{"website":"https://x","name":"Solana"}'))).toEqual({
      program: 'config',
      parsed: {
        type: 'validatorInfo',
        info: {
          keys: [
            { pubkey: validatorInfo, signer: false },
            { pubkey: k(9), signer: true },
          ],
          configData: { name: 'Solana', website: 'https://x' },
        },
      },
      space: configOf('{"website":"https://x","name":"Solana"}').length,
    });
  });

  it('is formatted as serde_json does', () => {
    const json =
      '{"b":1,"a":[1.0,1e2,-0,18446744073709551615,18446744073709551616],"__proto__":{"10":1,"9":2},"b":2}';
    const account = { lamports: lamports(1), data: configOf(json), owner: programs.config };
    const parsed = parseAccountData(k(1), { ...account, executable: false, rentEpoch: 0n });
    expect(writeJson(parsed)).toContain(
      '"configData":{"__proto__":{"10":1,"9":2},"a":[1.0,100.0,-0.0,18446744073709551615,1.8446744073709552e+19],"b":2}',
    );
  });

  it.each([
    ['invalid JSON', '{'],
    ['a number beyond f64', '1e999'],
    ['half of a surrogate pair', '"\\ud800"'],
    ['128 nested arrays', `${'['.repeat(128)}${']'.repeat(128)}`],
    ['a million nested arrays', '['.repeat(1_000_000)],
  ])('is unparsed with %s', (_name, json) => {
    expect(data(json)).toBe('not parsed');
  });

  it('allows any JSON and ignores brackets in strings', () => {
    expect(data(`"${'['.repeat(200)}\\""`)).toBe(`${'['.repeat(200)}"`);
    expect(data('null')).toBeNull();
    expect(data(`${'['.repeat(127)}${']'.repeat(127)}`)).toBeInstanceOf(Array);
  });

  it('is unparsed for other keys, truncated data and the old stake configuration', () => {
    expect(shownAccount(programs.config, configOf('{}', k(8)))).toBeNull();
    expect(shownAccount(programs.config, configOf('{}').subarray(0, -1))).toBeNull();
    expect(shownAccount(programs.config, bytesOf('0 0.25:f64 12'), stakeConfig)).toBeNull();
    expect(shownAccount(programs.config, fill(3, 255))).toBeNull();
  });
});
