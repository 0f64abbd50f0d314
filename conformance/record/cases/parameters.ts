import type { WritableJson } from '../../../src/base/json.ts';
import { commitments } from '../../../src/protocol/commitment.ts';
import { call, type Facts, type RecordedCase, raw } from './recorded-case.ts';

/** Kind of a parameter, with the values that a node must refuse or treat in a special way. */
type Kind =
  | 'address'
  | 'signature'
  | 'number'
  | 'addresses'
  | 'signatures'
  | 'text'
  | 'filter'
  | 'config'
  | 'strict';

type Labelled = readonly (readonly [label: string, value: WritableJson])[];

const NO_TEXT: Labelled = [
  ['a number', 5],
  ['true', true],
  ['null', null],
  ['a list', []],
  ['an object', {}],
];
const NO_KEY: Labelled = [
  ...NO_TEXT,
  ['an empty text', ''],
  ['no base58', '0OIl'],
  ['a short key', '1111'],
  ['a long key', '1'.repeat(100)],
];
const NO_LIST: Labelled = [
  ['a text', 'x'],
  ['a number', 5],
  ['null', null],
  ['an object', {}],
  ['an empty list', []],
  ['a list of numbers', [5]],
  ['a list of nulls', [null]],
  ['a list with no base58', ['0OIl']],
  ['a list with a short key', ['1111']],
];
const NO_CONFIG: Labelled = [
  ['a number', 5],
  ['a text', 'x'],
  ['true', true],
  ['null', null],
  ['a list', []],
  ['an empty object', {}],
  ['an unknown member', { color: 'red' }],
  ...commitments.map((commitment) => [`commitment ${commitment}`, { commitment }] as const),
  ['an unknown commitment', { commitment: 'recent' }],
  ['a commitment number', { commitment: 5 }],
  ['a null commitment', { commitment: null }],
];

const odd: Readonly<Record<Kind, Labelled>> = {
  address: NO_KEY,
  signature: [...NO_KEY, ['an address', 'Vote111111111111111111111111111111111111111']],
  number: [
    ['a text', '1'],
    ['true', true],
    ['null', null],
    ['a list', []],
    ['an object', {}],
    ['-1', -1],
    ['1.5', 1.5],
    ['1e3', raw('1e3')],
    ['the largest u64', raw('18446744073709551615')],
    ['beyond u64', raw('18446744073709551616')],
  ],
  addresses: NO_LIST,
  signatures: NO_LIST,
  text: [...NO_TEXT, ['an empty text', ''], ['no encoding', '!']],
  filter: [
    ['a number', 5],
    ['null', null],
    ['an empty object', {}],
    ['an unknown member', { color: 'red' }],
    ['no base58', { mint: '0OIl' }],
    ['a short key', { programId: '1111' }],
    ['a mint number', { mint: 5 }],
  ],
  config: [
    ...NO_CONFIG,
    ['minContextSlot 0', { minContextSlot: 0 }],
    ['minContextSlot ahead', { minContextSlot: raw('18446744073709551615') }],
    ['a minContextSlot text', { minContextSlot: '1' }],
    ['a negative minContextSlot', { minContextSlot: -1 }],
  ],
  strict: NO_CONFIG,
};

type Position = Readonly<{ kind: Kind; value: (facts: Facts) => WritableJson; optional?: true }>;

const at = (kind: Kind, value: Position['value'] | WritableJson): Position => ({
  kind,
  value: typeof value === 'function' ? value : () => value as WritableJson,
});
const maybe = (kind: Kind, value: Position['value'] | WritableJson = {}): Position => ({
  ...at(kind, value),
  optional: true,
});

const wallet = at('address', (f) => f.address('alice'));
const step = at('number', (f) => f.slot('transfer'));
const signature = at('signature', (f) => f.signature('transfer'));
const config = maybe('config');
const strict = maybe('strict', { commitment: 'confirmed' });
const mint = at('address', (f) => f.address('mint'));

/** Methods and the parameters they take. */
const parameters: Readonly<Record<string, readonly Position[]>> = {
  getAccountInfo: [wallet, config],
  getBalance: [wallet, config],
  getBlock: [step, config],
  getBlockCommitment: [at('number', (f) => f.slot('transfer'))],
  getBlockHeight: [config],
  getBlockProduction: [config],
  getBlocks: [step, maybe('number', (f) => f.slot('transfer v0')), config],
  getBlocksWithLimit: [step, at('number', 3), config],
  getBlockTime: [step],
  getClusterNodes: [],
  getEpochInfo: [config],
  getEpochSchedule: [],
  getFeeForMessage: [at('text', (f) => f.message('transfer')), config],
  getFirstAvailableBlock: [],
  getGenesisHash: [],
  getHealth: [],
  getHighestSnapshotSlot: [],
  getIdentity: [],
  getInflationGovernor: [strict],
  getInflationRate: [],
  getInflationReward: [at('addresses', (f) => [f.address('alice')]), maybe('config', { epoch: 0 })],
  getLargestAccounts: [config],
  getLatestBlockhash: [config],
  getLeaderSchedule: [maybe('number', 0), config],
  getMaxRetransmitSlot: [],
  getMaxShredInsertSlot: [],
  getMinimumBalanceForRentExemption: [at('number', 165), strict],
  getMultipleAccounts: [at('addresses', (f) => [f.address('alice'), f.address('absent')]), config],
  getProgramAccounts: [at('address', (f) => f.address('owner')), config],
  getRecentPerformanceSamples: [maybe('number', 1)],
  getRecentPrioritizationFees: [maybe('addresses', (f) => [f.address('alice')])],
  getSignatureStatuses: [at('signatures', (f) => [f.signature('transfer')]), config],
  getSignaturesForAddress: [at('address', (f) => f.address('dust')), config],
  getSlot: [config],
  getSlotLeader: [config],
  getSlotLeaders: [at('number', 0), at('number', 2)],
  getStakeMinimumDelegation: [config],
  getSupply: [maybe('config', { excludeNonCirculatingAccountsList: true })],
  getTokenAccountBalance: [at('address', (f) => f.address('alice/mint')), strict],
  getTokenAccountsByDelegate: [
    ...[at('address', (f) => f.address('bob')), at('filter', (f) => ({ mint: f.address('mint') }))],
    maybe('config', { encoding: 'jsonParsed' }),
  ],
  getTokenAccountsByOwner: [
    ...[at('address', (f) => f.address('alice')), at('filter', (f) => ({ mint: f.address('mint') }))],
    maybe('config', { encoding: 'jsonParsed' }),
  ],
  getTokenLargestAccounts: [mint, strict],
  getTokenSupply: [mint, strict],
  getTransaction: [signature, config],
  getTransactionCount: [config],
  getVersion: [],
  getVoteAccounts: [config],
  isBlockhashValid: [at('address', (f) => f.blockhash('transfer')), config],
  minimumLedgerSlot: [],
  requestAirdrop: [at('address', (f) => f.address('receiver')), at('number', 0), maybe('strict')],
  sendTransaction: [
    at('text', (f) => f.wire('transfer', 'base58')),
    maybe('config', { skipPreflight: true }),
  ],
  simulateTransaction: [
    ...[at('text', (f) => f.unsent('transfer', 'base58'))],
    maybe('config', { replaceRecentBlockhash: true }),
  ],
};

const valuesOf = (positions: readonly Position[], facts: Facts): WritableJson[] =>
  positions.map(({ value }) => value(facts));

/** Each form of `params` itself, then too few and too many. */
function arityCases(method: string, positions: readonly Position[]): RecordedCase[] {
  const required = positions.filter(({ optional }) => !optional);
  const missing = required.map((_, count) =>
    call(method, `${count} of ${required.length} required parameters`, (f) =>
      valuesOf(required.slice(0, count), f),
    ),
  );
  return [
    call(method, 'no params', undefined),
    call(method, 'null params', null),
    call(method, 'params as an object', { a: 1 }),
    call(method, 'params as a text', 'x'),
    call(method, 'params as a number', 5),
    ...missing,
    call(method, 'required parameters', (f) => valuesOf(required, f)),
    ...(positions.length > required.length
      ? [call(method, 'all parameters', (f) => valuesOf(positions, f))]
      : []),
    call(method, 'one parameter too many', (f) => [...valuesOf(positions, f), null]),
  ];
}

/** Each odd value at each position; other positions hold valid values. */
const oddCases = (method: string, positions: readonly Position[]): RecordedCase[] =>
  positions.flatMap(({ kind }, position) =>
    odd[kind].map(([label, value]) =>
      call(method, `parameter ${position} is ${label}`, (f) => [
        ...valuesOf(positions.slice(0, position), f),
        value,
      ]),
    ),
  );

/** Every method with every form of its parameters. */
export const parameterCases: readonly RecordedCase[] = Object.entries(parameters).flatMap(
  ([method, positions]) => [...arityCases(method, positions), ...oddCases(method, positions)],
);
