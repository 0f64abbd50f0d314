import type { WritableJson } from '../../../src/base/json.ts';
import { commitments } from '../../../src/protocol/commitment.ts';
import { nativeMint, programs, stakeConfig, sysvars } from '../../../src/solana/programs.ts';
import { call, type Facts, type RecordedCase, raw } from './recorded-case.ts';

type Members = { readonly [name: string]: WritableJson };

/** Accounts that the script made. */
const made = [
  ...['payer', 'alice', 'bob', 'carol', 'dust', 'poor', 'absent', 'data', 'large', 'alone', 'nonce'],
  ...['mint', 'multimint', 'multisig', 'alice/mint', 'bob/mint', 'carol/mint', 'poor/mint', 'alice/sol'],
  ...['mint22', 'mint22-interest', 'mint22-scaled', 'mint22-bound', 'mint22-group'],
  ...['alice/mint22', 'bob/mint22', 'alice/mint22-interest', 'alice/mint22-scaled', 'alice/mint22-bound'],
  ...['vote', 'stake', 'stake2', 'stake3', 'table', 'table2', 'validator vote', 'validator stake'],
];

/** Accounts whose bytes are the same on every ledger. */
const fixed = [
  'alice',
  'data',
  'large',
  'alone',
  'mint',
  'multisig',
  'alice/mint',
  'alice/sol',
  'mint22',
  'bob/mint22',
];

const encodings = ['binary', 'base58', 'base64', 'base64+zstd', 'jsonParsed'] as const;

const sizes: Readonly<Record<string, Readonly<Record<string, WritableJson>>>> = {
  'from 0 for 0': { offset: 0, length: 0 },
  'from 0 for 8': { offset: 0, length: 8 },
  'from 10 for 20': { offset: 10, length: 20 },
  'from 0 for all': { offset: 0, length: 200 },
  'past the end': { offset: 190, length: 50 },
  'from the end': { offset: 200, length: 1 },
  'from far away': { offset: raw('18446744073709551615'), length: raw('18446744073709551615') },
  'from beyond u64': { offset: raw('18446744073709551616'), length: 1 },
  'from -1': { offset: -1, length: 1 },
  'from 0.5': { offset: 0.5, length: 1 },
  'from a text': { offset: '0', length: 1 },
  'without length': { offset: 0 },
  'without offset': { length: 1 },
  'of an unknown member': { offset: 0, length: 8, color: 'red' },
};
const noSlices: readonly (readonly [string, WritableJson])[] = [
  ['null', null],
  ['a number', 5],
  ['a list', [0, 8]],
  ['a text', 'x'],
];

const info = (label: string, address: (f: Facts) => string, config: Members): RecordedCase =>
  call('getAccountInfo', label, (f) => [address(f), config]);

const readCases: readonly RecordedCase[] = [
  ...made.map((name) => info(`${name} parsed`, (f) => f.address(name), { encoding: 'jsonParsed' })),
  ...fixed.flatMap((name) =>
    encodings.map((encoding) => info(`${name} as ${encoding}`, (f) => f.address(name), { encoding })),
  ),
  ...['utf8', 'BASE64', '', 5, null, ['base64']].map((encoding) =>
    info(`encoding ${JSON.stringify(encoding)}`, (f) => f.address('alice'), { encoding }),
  ),
];

const sliceCases: readonly RecordedCase[] = [
  ...Object.entries(sizes).flatMap(([label, dataSlice]) => [
    info(`slice ${label}`, (f) => f.address('data'), { encoding: 'base64', dataSlice }),
    info(`mint slice ${label}`, (f) => f.address('mint22'), { encoding: 'base64', dataSlice }),
  ]),
  ...noSlices.map(([label, dataSlice]) =>
    info(`slice is ${label}`, (f) => f.address('data'), { encoding: 'base64', dataSlice }),
  ),
  ...encodings.map((encoding) =>
    info(`slice as ${encoding}`, (f) => f.address('large'), {
      encoding,
      dataSlice: sizes['from 10 for 20'] as Members,
    }),
  ),
];

/** Accounts of the genesis. Only the kinds whose bytes do not move are read as bytes. */
const genesis: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(programs).map(([name, address]) => [`program ${name}`, address])),
  ...{ 'native mint': nativeMint, 'stake config': stakeConfig },
  ...Object.fromEntries(Object.entries(sysvars).map(([name, address]) => [`sysvar ${name}`, address])),
};

const genesisCases: readonly RecordedCase[] = Object.entries(genesis).map(([name, address]) =>
  info(name, () => address, {
    encoding: 'jsonParsed',
    ...(name.startsWith('program') ? { dataSlice: { offset: 0, length: 4 } } : {}),
  }),
);

const many = (label: string, names: readonly string[], config: Members): RecordedCase =>
  call('getMultipleAccounts', label, (f) => [names.map(f.address), config]);

const multipleCases: readonly RecordedCase[] = [
  ...encodings.map((encoding) => many(`as ${encoding}`, ['alice', 'absent', 'mint', 'alice'], { encoding })),
  many('100 of them', Array(100).fill('absent'), { encoding: 'base64' }),
  many('101 of them', Array(101).fill('absent'), { encoding: 'base64' }),
  many('a slice', ['data', 'mint'], { encoding: 'base64', dataSlice: { offset: 0, length: 4 } }),
];

const filters: Readonly<Record<string, WritableJson>> = {
  'by size': [{ dataSize: 82 }],
  'by another size': [{ dataSize: 1 }],
  'by size text': [{ dataSize: '82' }],
  'by negative size': [{ dataSize: -1 }],
  'by bytes': [{ memcmp: { offset: 0, bytes: '3Mc6vR' } }],
  'by no bytes': [{ memcmp: { offset: 0, bytes: '' } }],
  'by base64 bytes': [{ memcmp: { offset: 44, bytes: 'Ag==', encoding: 'base64' } }],
  'by base58 bytes': [{ memcmp: { offset: 44, bytes: '3', encoding: 'base58' } }],
  'by a list of bytes': [{ memcmp: { offset: 44, bytes: [2] } }],
  'by bytes past the end': [{ memcmp: { offset: 4_000, bytes: '3' } }],
  'by bytes at the largest offset': [{ memcmp: { offset: raw('18446744073709551615'), bytes: '3' } }],
  'by bytes that are no base58': [{ memcmp: { offset: 0, bytes: '0OIl' } }],
  'by bytes that are no base64': [{ memcmp: { offset: 0, bytes: '!', encoding: 'base64' } }],
  'by bytes of an unknown encoding': [{ memcmp: { offset: 0, bytes: '3', encoding: 'hex' } }],
  'by 129 bytes': [
    { memcmp: { offset: 0, bytes: Buffer.alloc(129).toString('base64'), encoding: 'base64' } },
  ],
  'by too many bytes': [{ memcmp: { offset: 0, bytes: '1'.repeat(176) } }],
  'by bytes without offset': [{ memcmp: { bytes: '3' } }],
  'by offset without bytes': [{ memcmp: { offset: 0 } }],
  'by token state': ['tokenAccountState'],
  'by an unknown filter': ['color'],
  'by an empty filter': [{}],
  'by two in one': [{ dataSize: 82, memcmp: { offset: 0, bytes: '3' } }],
  'by four filters': Array(4).fill({ dataSize: 82 }),
  'by five filters': Array(5).fill({ dataSize: 82 }),
  'by a null filter list': null,
  'by no filter list': {},
};

const programCases: readonly RecordedCase[] = [
  ...Object.entries(filters).map(([label, list]) =>
    call('getProgramAccounts', label, [
      programs.token,
      { encoding: 'base64', dataSlice: { offset: 0, length: 0 }, filters: list },
    ]),
  ),
  ...encodings.map((encoding) =>
    call('getProgramAccounts', `as ${encoding}`, (f) => [f.address('owner'), { encoding }]),
  ),
  call('getProgramAccounts', 'multisigs as binary', [programs.token, { filters: [{ dataSize: 355 }] }]),
  ...[true, false, null, 5].flatMap((value) =>
    ['withContext', 'sortResults'].map((member) =>
      call('getProgramAccounts', `${member} ${value}`, (f) => [
        f.address('owner'),
        { encoding: 'base64', dataSlice: { offset: 0, length: 0 }, [member]: value },
      ]),
    ),
  ),
  ...[programs.token, programs.token2022, programs.stake, programs.vote, programs.config].map((program) =>
    call('getProgramAccounts', `of ${program} parsed`, [program, { encoding: 'jsonParsed' }]),
  ),
  ...commitments.map((commitment) =>
    call('getProgramAccounts', `at ${commitment}`, (f) => [
      f.address('owner'),
      { encoding: 'base64', commitment, withContext: true },
    ]),
  ),
];

/** Accounts of the Token programs by owner, delegate and mint. */
const listCases: readonly RecordedCase[] = ['getTokenAccountsByOwner', 'getTokenAccountsByDelegate'].flatMap(
  (method) => [
    ...['alice', 'bob', 'absent'].flatMap((name) =>
      [programs.token, programs.token2022].map((programId) =>
        call(method, `${name} in ${programId}`, (f) => [
          f.address(name),
          { programId },
          { encoding: 'jsonParsed' },
        ]),
      ),
    ),
    ...encodings.map((encoding) =>
      call(method, `as ${encoding}`, (f) => [
        f.address(method === 'getTokenAccountsByOwner' ? 'carol' : 'bob'),
        { mint: f.address('mint') },
        { encoding },
      ]),
    ),
    call(method, 'a mint of Token-2022', (f) => [
      f.address('alice'),
      { mint: f.address('mint22') },
      { encoding: 'base64' },
    ]),
    call(method, 'a mint that is a token account', (f) => [
      f.address('alice'),
      { mint: f.address('alice/mint') },
    ]),
    call(method, 'a mint that is absent', (f) => [f.address('alice'), { mint: f.address('absent') }]),
    call(method, 'a mint that is no token', (f) => [f.address('alice'), { mint: f.address('data') }]),
    call(method, 'an unknown program', (f) => [f.address('alice'), { programId: programs.system }]),
    call(method, 'mint and program', (f) => [
      f.address('alice'),
      { mint: f.address('mint'), programId: programs.token },
      { encoding: 'base64' },
    ]),
    call(method, 'a slice', (f) => [
      f.address('alice'),
      { programId: programs.token },
      { encoding: 'base64', dataSlice: { offset: 64, length: 8 } },
    ]),
  ],
);

const amountNames = ['alice/mint', 'bob/mint', 'carol/mint', 'poor/mint', 'alice/sol', 'alice/mint22'];
const mintNames = ['mint', 'multimint', 'mint22', 'mint22-interest', 'mint22-scaled', 'mint22-bound'];
const noTokens = ['absent', 'alice', 'data', 'multisig'];

const tokenCases: readonly RecordedCase[] = [
  ...[...amountNames, 'alice/mint22-interest', 'alice/mint22-scaled', 'mint', ...noTokens].map((name) =>
    call('getTokenAccountBalance', name, (f) => [f.address(name)]),
  ),
  ...[...mintNames, 'alice/mint', ...noTokens].flatMap((name) =>
    ['getTokenSupply', 'getTokenLargestAccounts'].map((method) =>
      call(method, name, (f) => [f.address(name)]),
    ),
  ),
  ...['getTokenSupply', 'getTokenLargestAccounts'].map((method) => call(method, 'native mint', [nativeMint])),
];

const totals: readonly RecordedCase[] = [
  ...['circulating', 'nonCirculating', 'all', null].map((filter) =>
    call('getLargestAccounts', `filter ${filter}`, [{ filter, sortResults: true }]),
  ),
  ...[true, false, null, 5].map((excludeNonCirculatingAccountsList) =>
    call('getSupply', `list excluded ${excludeNonCirculatingAccountsList}`, [
      { excludeNonCirculatingAccountsList },
    ]),
  ),
  ...[0, 1, 80, 165, 10 * 1024 * 1024, 10 * 1024 * 1024 + 1].map((bytes) =>
    call('getMinimumBalanceForRentExemption', `${bytes} bytes`, [bytes]),
  ),
  ...['alice', 'poor', 'dust', 'absent', 'alice/mint', 'stake'].flatMap((name) =>
    commitments.map((commitment) =>
      call('getBalance', `${name} at ${commitment}`, (f) => [f.address(name), { commitment }]),
    ),
  ),
];

/** State of accounts. */
export const accountCases: readonly RecordedCase[] = [
  ...[readCases, sliceCases, genesisCases, multipleCases, programCases, listCases, tokenCases, totals].flat(),
];
