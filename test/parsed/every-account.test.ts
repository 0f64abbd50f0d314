import { describe, expect, it } from 'vitest';
import type { ByteWriter } from '../../src/base/bytes.ts';
import { type JsonValue, parseJson, writeJson } from '../../src/base/json.ts';
import { type Address, address, addressBytes } from '../../src/solana/address.ts';
import { parseAccountData } from '../../src/solana/parsed/parse-account.ts';
import { programs, stakeConfig, sysvarOwner, sysvars } from '../../src/solana/programs.ts';
import { lamports } from '../../src/solana/units.ts';
import { bytes, fill, k, key, text, u32 } from './rows/row.ts';

type AccountRow = Readonly<{
  program: string;
  type: string;
  owner: Address;
  data: Uint8Array;
  at?: Address;
  info?: unknown;
}>;

const row = (
  [program, owner]: readonly [string, Address],
  type: string,
  data: ByteWriter,
  info?: unknown,
  at?: Address,
): AccountRow => ({
  program,
  type,
  owner,
  data: data.finish(),
  ...(info !== undefined && { info }),
  ...(at && { at }),
});

const table = ['address-lookup-table', programs.addressLookupTable] as const;
const loader = ['bpf-upgradeable-loader', programs.bpfUpgradeableLoader] as const;
const nonce = ['nonce', programs.system] as const;
const stake = ['stake', programs.stake] as const;
const token = ['spl-token', programs.token] as const;
const token2022 = ['spl-token-2022', programs.token2022] as const;
const vote = ['vote', programs.vote] as const;
const sysvar = ['sysvar', sysvarOwner] as const;

const validatorInfo = address('Va1idator1nfo111111111111111111111111111111');
const meta = (tag: number): ByteWriter =>
  u32(tag).u64(2_282_880n).bytes(key(2)).bytes(key(3)).i64(-4n).u64(5n).bytes(key(6));
const shownMeta = {
  rentExemptReserve: '2282880',
  authorized: { staker: k(2), withdrawer: k(3) },
  lockup: { unixTimestamp: -4, epoch: 5, custodian: k(6) },
};

const mint = bytes().u32(1).bytes(key(2)).u64(42n).u8(3).u8(1).u32(0).zeros(32);
const shownMint = {
  mintAuthority: k(2),
  supply: '42',
  decimals: 3,
  isInitialized: true,
  freezeAuthority: null,
};

const clock = bytes().u64(1n).i64(-2n).u64(3n).u64(4n).i64(5n);

const rows: readonly AccountRow[] = [
  row(table, 'uninitialized', u32(0).zeros(52)),
  row(
    table,
    'lookupTable',
    u32(1)
      .u64(2n ** 64n - 1n)
      .u64(7n)
      .u8(3)
      .u8(1)
      .bytes(key(8))
      .u16(0)
      .bytes(key(9)),
    {
      deactivationSlot: '18446744073709551615',
      lastExtendedSlot: '7',
      lastExtendedSlotStartIndex: 3,
      authority: k(8),
      addresses: [k(9)],
    },
  ),
  row(loader, 'uninitialized', u32(0)),
  row(loader, 'buffer', u32(1).u8(1).bytes(key(8)).bytes(Uint8Array.of(7)), {
    authority: k(8),
    data: ['Bw==', 'base64'],
  }),
  row(loader, 'program', u32(2).bytes(key(8)), { programData: k(8) }),
  row(loader, 'programData', u32(3).u64(42n).u8(0).bytes(Uint8Array.of(7)), {
    slot: 42,
    authority: null,
    data: ['Bw==', 'base64'],
  }),
  row(nonce, 'initialized', u32(1).u32(1).bytes(key(2)).bytes(key(3)).u64(5_000n), {
    authority: k(2),
    blockhash: k(3),
    feeCalculator: { lamportsPerSignature: '5000' },
  }),
  row(stake, 'uninitialized', u32(0).zeros(196)),
  row(stake, 'initialized', meta(1).zeros(80), { meta: shownMeta, stake: null }),
  row(
    stake,
    'delegated',
    meta(2)
      .bytes(key(7))
      .u64(20n)
      .u64(2n)
      .u64(2n ** 64n - 1n)
      .f64(0.25)
      .u64(10n)
      .u8(0),
    {
      meta: shownMeta,
      stake: {
        delegation: {
          voter: k(7),
          stake: '20',
          activationEpoch: '2',
          deactivationEpoch: '18446744073709551615',
        },
        creditsObserved: 10,
      },
    },
  ),
  row(stake, 'rewardsPool', u32(3)),
  row(token, 'mint', mint, shownMint),
  row(token2022, 'mint', bytes().bytes(mint.finish()), shownMint),
  row(
    token,
    'account',
    bytes()
      .bytes(key(2))
      .bytes(key(3))
      .u64(42n)
      .u32(1)
      .bytes(key(4))
      .u8(2)
      .u32(0)
      .u64(0n)
      .u64(40n)
      .u32(1)
      .bytes(key(5)),
    {
      mint: k(2),
      owner: k(3),
      tokenAmount: { amount: '42', decimals: 2, uiAmount: 0.42, uiAmountString: '0.42' },
      delegate: k(4),
      delegatedAmount: { amount: '40', decimals: 2, uiAmount: 0.4, uiAmountString: '0.4' },
      state: 'frozen',
      isNative: false,
      closeAuthority: k(5),
    },
  ),
  row(token, 'multisig', bytes(1, 2, 1).bytes(key(2)).bytes(key(3)).zeros(288), {
    numRequiredSigners: 1,
    numValidSigners: 2,
    isInitialized: true,
    signers: [k(2), k(3)],
  }),
  row(
    vote,
    'vote',
    u32(3)
      .bytes(key(2))
      .bytes(key(3))
      .bytes(key(4))
      .bytes(key(5))
      .u16(101)
      .u16(10_000)
      .u64(6n)
      .u8(0)
      .u64(1n)
      .u8(1)
      .u64(100n)
      .u32(2)
      .u8(1)
      .u64(69n)
      // Unsorted epochs.
      .u64(2n)
      .u64(8n)
      .bytes(key(8))
      .u64(7n)
      .bytes(key(7))
      .u64(1n)
      .u64(7n)
      .u64(20n)
      .u64(10n)
      .u64(100n)
      .i64(-5n),
    {
      nodePubkey: k(2),
      authorizedWithdrawer: k(3),
      inflationRewardsCollector: k(4),
      blockRevenueCollector: k(5),
      commission: 2,
      inflationRewardsCommissionBps: 101,
      blockRevenueCommissionBps: 10_000,
      pendingDelegatorRewards: '6',
      blsPubkeyCompressed: null,
      votes: [{ latency: 1, slot: 100, confirmationCount: 2 }],
      rootSlot: 69,
      authorizedVoters: [
        { epoch: 7, authorizedVoter: k(7) },
        { epoch: 8, authorizedVoter: k(8) },
      ],
      priorVoters: [],
      epochCredits: [{ epoch: 7, credits: '20', previousCredits: '10' }],
      lastTimestamp: { slot: 100, timestamp: -5 },
    },
  ),
  row(
    sysvar,
    'clock',
    clock,
    { slot: 1, epochStartTimestamp: -2, epoch: 3, leaderScheduleEpoch: 4, unixTimestamp: 5 },
    sysvars.clock,
  ),
  row(
    sysvar,
    'epochSchedule',
    bytes().u64(12n).u64(13n).u8(1).u64(1n).u64(14n),
    {
      slotsPerEpoch: 12,
      leaderScheduleSlotOffset: 13,
      warmup: true,
      firstNormalEpoch: 1,
      firstNormalSlot: 14,
    },
    sysvars.epochSchedule,
  ),
  row(sysvar, 'fees', bytes().u64(5_000n), { feeCalculator: { lamportsPerSignature: '5000' } }, sysvars.fees),
  row(
    sysvar,
    'recentBlockhashes',
    bytes().u64(1n).bytes(key(2)).u64(5_000n),
    [{ blockhash: k(2), feeCalculator: { lamportsPerSignature: '5000' } }],
    sysvars.recentBlockhashes,
  ),
  row(sysvar, 'rent', bytes().u64(6_960n).f64(1).u8(50), { lamportsPerByte: '6960' }, sysvars.rent),
  row(sysvar, 'rewards', bytes().f64(2).f64(0), { validatorPointValue: 2 }, sysvars.rewards),
  row(
    sysvar,
    'slotHashes',
    bytes().u64(1n).u64(7n).bytes(key(2)),
    [{ slot: 7, hash: k(2) }],
    sysvars.slotHashes,
  ),
  row(
    sysvar,
    'stakeHistory',
    bytes().u64(1n).u64(7n).u64(10n).u64(2n).u64(3n),
    [{ epoch: 7, stakeHistory: { effective: 10, activating: 2, deactivating: 3 } }],
    sysvars.stakeHistory,
  ),
  row(sysvar, 'lastRestartSlot', bytes().u64(1_282n), { lastRestartSlot: 1_282 }, sysvars.lastRestartSlot),
  row(
    sysvar,
    'epochRewards',
    bytes().u64(42n).u64(2n).bytes(key(2)).u64(3n).u64(1n).u64(100n).u64(20n).u8(1),
    {
      distributionStartingBlockHeight: 42,
      numPartitions: 2,
      parentBlockhash: k(2),
      totalPoints: '18446744073709551619',
      totalRewards: '100',
      distributedRewards: '20',
      active: true,
    },
    sysvars.epochRewards,
  ),
];

/** Types written by Agave's account-decoder, by program; validatorInfo and slotHistory are tested below. */
const types: Readonly<Record<string, string>> = {
  'address-lookup-table': 'uninitialized lookupTable',
  'bpf-upgradeable-loader': 'uninitialized buffer program programData',
  nonce: 'initialized',
  stake: 'uninitialized initialized delegated rewardsPool',
  'spl-token': 'mint account multisig',
  'spl-token-2022': 'mint',
  vote: 'vote',
  sysvar: `clock epochSchedule fees recentBlockhashes rent rewards slotHashes stakeHistory lastRestartSlot
    epochRewards`,
};

function shown(owner: Address, data: Uint8Array, at: Address = k(99)): JsonValue {
  const account = { lamports: lamports(1), data, owner, executable: false, rentEpoch: 0n };
  return parseJson(writeJson(parseAccountData(at, account, { mint: () => ({ decimals: 2 }) })));
}

describe('parsed accounts', () => {
  it.each(Object.entries(types))('of %s have a row', (program, names) => {
    const found = rows.filter((row) => row.program === program).map(({ type }) => type);
    expect(new Set(found)).toEqual(new Set(names.split(/\s+/)));
  });

  it.each(rows)('$program $type matches its row', ({ program, type, owner, data, at, info }) => {
    const parsed = info === undefined ? { type } : { type, info };
    expect(shown(owner, data, at)).toEqual({ program, parsed, space: data.length });
  });

  it.each(rows)('$program $type is unparsed when cut in half', ({ owner, data, at, info }) => {
    if (info !== undefined && !('data' in (info as object))) {
      expect(shown(owner, data.subarray(0, data.length >> 1), at)).toBeNull();
    }
  });

  it('show the slot history as bits', () => {
    const WORDS = 16_384;
    const data = bytes(1)
      .u64(BigInt(WORDS))
      .u64(0b101n)
      .zeros(8 * (WORDS - 1))
      .u64(1_048_576n)
      .u64(43n);
    const bits = `101${'0'.repeat(1_048_573)}`;
    expect(shown(sysvarOwner, data.finish(), sysvars.slotHistory)).toMatchObject({
      parsed: { type: 'slotHistory', info: { nextSlot: 43, bits } },
    });
  });

  it('cover only programs that nodes parse', () => {
    expect(shown(programs.memoV3, clock.finish())).toBeNull();
    expect(shown(sysvarOwner, clock.finish(), sysvars.instructions)).toBeNull();
  });
});

describe('config program account', () => {
  const about = (json: string, first: Address = validatorInfo): Uint8Array =>
    bytes(2).bytes(addressBytes(first)).u8(0).bytes(key(9)).u8(1).bytes(text(json)).finish();
  const data = (json: string): JsonValue => {
    const parsed = shown(programs.config, about(json)) as {
      parsed: { info: Record<string, JsonValue> };
    } | null;
    return parsed === null ? 'not parsed' : (parsed.parsed.info.configData ?? null);
  };

  it('shows validator info', () => {
    expect(shown(programs.config, about('{"website":"https://x","name":"Solana"}'))).toEqual({
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
      space: about('{"website":"https://x","name":"Solana"}').length,
    });
  });

  it('is formatted as serde_json does', () => {
    const json =
      '{"b":1,"a":[1.0,1e2,-0,18446744073709551615,18446744073709551616],"__proto__":{"10":1,"9":2},"b":2}';
    const account = { lamports: lamports(1), data: about(json), owner: programs.config };
    const parsed = parseAccountData(k(1), { ...account, executable: false, rentEpoch: 0n });
    expect(writeJson(parsed)).toContain(
      '"configData":{"__proto__":{"10":1,"9":2},"a":[1.0,100.0,-0.0,18446744073709551615,1.8446744073709552e19],"b":2}',
    );
  });

  it.each([
    ['no JSON', '{'],
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
    expect(shown(programs.config, about('{}', k(8)))).toBeNull();
    expect(shown(programs.config, about('{}').subarray(0, -1))).toBeNull();
    expect(shown(programs.config, bytes(0).f64(0.25).u8(12).finish(), stakeConfig)).toBeNull();
    expect(shown(programs.config, fill(3, 255))).toBeNull();
  });
});
