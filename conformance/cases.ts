import type { WritableJson } from '../src/base/json.ts';
import { commitments } from '../src/protocol/commitment.ts';
import { type MethodKind, type MethodName, methods } from '../src/protocol/methods.ts';
import type { Anchors } from './anchors.ts';
import type { Comparison } from './compare.ts';

/** One call, sent to both nodes. */
export type ConformanceCase = Readonly<{
  method: MethodName;
  name: string;
  params: WritableJson;
  by: Comparison;
  /** Both nodes must return an error. */
  mustRefuse: boolean;
}>;

/** Default comparison by method kind. */
const comparisonByKind: Readonly<Record<MethodKind, Comparison>> = {
  fixed: 'exact',
  epoch: 'exact',
  head: 'moving',
  pinned: 'exact',
  growing: 'exact',
  scan: 'moving',
  simulate: 'moving',
  send: 'exact',
  mint: 'exact',
  unknown: 'exact',
};

type CaseInput = Readonly<{ name: string; params: WritableJson; by?: Comparison; mustRefuse?: true }>;

const good = (name: string, params: WritableJson, by?: Comparison): CaseInput =>
  by === undefined ? { name, params } : { name, params, by };
/** A call with an error that depends only on its parameters. */
const bad = (name: string, params: WritableJson): CaseInput => ({
  name: `refuses ${name}`,
  params,
  by: 'exact',
  mustRefuse: true,
});

const ABSENT = 'So11111111111111111111111111111111111111119';
const NO_KEY = 'not a key';
const SHORT_KEY = '1111';
const RANGE_MAX = 500_000n;
const FAR_SLOT = 9_223_372_036_854_775_807n;
const ENCODINGS = ['base58', 'base64', 'base64+zstd', 'jsonParsed'] as const;

const atEach = (params: (commitment: string) => WritableJson, by?: Comparison): CaseInput[] =>
  commitments.map((commitment) => good(`at ${commitment}`, params(commitment), by));
const badKeys = (rest: readonly WritableJson[] = []): CaseInput[] => [
  bad('no base58', [NO_KEY, ...rest]),
  bad('a short key', [SHORT_KEY, ...rest]),
  bad('a number', [5, ...rest]),
];
const many = (count: number, what: string): string[] => Array.from({ length: count }, () => what);
/** An unsigned transfer of nothing from a missing account. */
const UNSIGNED_MESSAGE =
  'AQABAgECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4fIAEBAgAADAIAAAABAAAAAAAAAA==';

function tokenOf(
  { token }: Anchors,
  plans: (token: NonNullable<Anchors['token']>) => CaseInput[],
): CaseInput[] {
  return token === null ? [] : plans(token);
}

/** Calls of each method. None changes the state of a node. */
const inputs: Readonly<Record<MethodName, (anchors: Anchors) => readonly CaseInput[]>> = {
  getAccountInfo: (a) => [
    ...ENCODINGS.map((encoding) => good(`as ${encoding}`, [a.wallet, { encoding }])),
    good('of nobody', [ABSENT]),
    good('a slice', [a.wallet, { encoding: 'base64', dataSlice: { offset: 0, length: 8 } }]),
    ...tokenOf(a, ({ account, mint }) => [
      good('a token account', [account, { encoding: 'jsonParsed' }]),
      good('a mint', [mint, { encoding: 'jsonParsed' }]),
      bad('base58 of a token account', [account, { encoding: 'base58' }]),
    ]),
    ...badKeys(),
    bad('nothing', []),
    bad('an unknown encoding', [a.wallet, { encoding: 'utf8' }]),
  ],
  getAgGenesisCert: () => [good('now', []), bad('a parameter', [1])],
  getBalance: (a) => [
    ...atEach((commitment) => [a.wallet, { commitment }]),
    good('of nobody', [ABSENT]),
    ...badKeys(),
    bad('nothing', []),
  ],
  getBlock: (a) => [
    ...['json', 'jsonParsed', 'base64', 'base58'].map((encoding) =>
      good(`as ${encoding}`, [a.slot, { encoding, maxSupportedTransactionVersion: 0 }]),
    ),
    ...['full', 'accounts', 'signatures', 'none'].map((transactionDetails) =>
      good(`with ${transactionDetails}`, [a.slot, { transactionDetails, maxSupportedTransactionVersion: 0 }]),
    ),
    good('without rewards', [a.slot, { rewards: false, maxSupportedTransactionVersion: 0 }]),
    bad('a slot that is far away', [FAR_SLOT]),
    bad('processed', [a.slot, { commitment: 'processed' }]),
    bad('nothing', []),
  ],
  getBlockCommitment: (a) => [good('of an old slot', [a.slot], 'shape'), bad('nothing', [])],
  getBlockHeight: () => atEach((commitment) => [{ commitment }], 'rising'),
  getBlockProduction: (a) => [
    good('of a range', [{ range: { firstSlot: a.rangeStart, lastSlot: a.slot } }], 'rising'),
    good('of a validator', [{ identity: a.identity }], 'shape'),
    bad('a range that runs back', [{ range: { firstSlot: a.slot, lastSlot: a.slot - 1n } }]),
    bad('an identity that is none', [{ identity: NO_KEY }]),
  ],
  getBlocks: (a) => [
    good('of a range', [a.rangeStart, a.slot]),
    good('that runs back', [a.slot, a.rangeStart]),
    // Nodes clamp ranges to the tip first, so a young chain has no range that is too long.
    ...(a.slot > RANGE_MAX ? [bad('a range that is too long', [a.slot - RANGE_MAX - 1n, a.slot])] : []),
    bad('processed', [a.rangeStart, a.slot, { commitment: 'processed' }]),
  ],
  getBlocksWithLimit: (a) => [
    good('five', [a.rangeStart, 5]),
    good('none', [a.rangeStart, 0]),
    bad('too many', [a.rangeStart, 500_001]),
  ],
  getBlockTime: (a) => [
    good('of a block', [a.slot]),
    bad('a slot that is far away', [FAR_SLOT]),
    bad('nothing', []),
  ],
  getClusterNodes: () => [good('now', [], 'shape'), bad('a parameter', [1])],
  getEpochInfo: () => atEach((commitment) => [{ commitment }], 'rising'),
  getEpochSchedule: () => [good('now', []), bad('a parameter', [1])],
  getFeeForMessage: () => [
    good('of an unknown blockhash', [UNSIGNED_MESSAGE]),
    bad('what is no base64', ['!']),
    bad('what is no message', ['AAAA']),
  ],
  getFirstAvailableBlock: () => [good('now', [], 'shape')],
  getGenesisHash: () => [good('now', []), bad('a parameter', [1])],
  getHealth: () => [good('now', [])],
  getHighestSnapshotSlot: () => [good('now', [], 'shape')],
  getIdentity: () => [good('now', [], 'shape')],
  getInflationGovernor: () => [good('now', []), bad('an empty config', [{}])],
  getInflationRate: () => [good('now', [])],
  getInflationReward: (a) => [
    ...(a.voteAccount === null || a.epoch === 0n
      ? []
      : [good('of the epoch before', [[a.voteAccount], { epoch: a.epoch - 1n }])]),
    bad('an epoch that is far away', [[a.wallet], { epoch: FAR_SLOT }]),
    bad('processed', [[a.wallet], { commitment: 'processed' }]),
  ],
  getLargestAccounts: () => [good('now', [])],
  getLatestBlockhash: () => atEach((commitment) => [{ commitment }], 'shape'),
  getLeaderSchedule: (a) => [
    good('of a validator', [null, { identity: a.identity }]),
    good('of an epoch that is far away', [FAR_SLOT]),
    bad('an identity that is none', [null, { identity: NO_KEY }]),
  ],
  getMaxRetransmitSlot: () => [good('now', [], 'shape')],
  getMaxShredInsertSlot: () => [good('now', [], 'shape')],
  getMinimumBalanceForRentExemption: () => [
    good('of nothing', [0]),
    good('of a token account', [165]),
    bad('an empty config', [0, {}]),
    bad('too much', [10 * 1024 * 1024 + 1]),
    bad('a negative number', [-1]),
  ],
  getMultipleAccounts: (a) => [
    good('of some', [a.addresses.slice(0, 10)]),
    good('with holes', [[a.wallet, ABSENT, a.wallet], { encoding: 'base64' }]),
    bad('too many', [many(101, a.wallet)]),
    bad('one that is none', [[a.wallet, NO_KEY]]),
  ],
  getProgramAccounts: (a) => [
    good('that match nothing', [a.wallet, { encoding: 'base64', filters: [{ dataSize: 1 }] }]),
    good('with context', [a.wallet, { encoding: 'base64', withContext: true, filters: [{ dataSize: 1 }] }]),
    bad('too many filters', [a.wallet, { filters: many(5, '').map(() => ({ dataSize: 1 })) }]),
    bad('bytes that are no base58', [a.wallet, { filters: [{ memcmp: { offset: 0, bytes: '0' } }] }]),
    ...badKeys(),
  ],
  getRecentPerformanceSamples: () => [good('some', [3], 'shape'), bad('too many', [721])],
  getRecentPrioritizationFees: (a) => [
    good('of everybody', [], 'shape'),
    bad('too many', [many(129, a.wallet)]),
    bad('one that is none', [[NO_KEY]]),
  ],
  getSignatureStatuses: (a) => [
    good('of old ones', [a.signatures.slice(0, 5), { searchTransactionHistory: true }], 'moving'),
    good('of an unknown one', [[many(64, '1').join('')]], 'moving'),
    bad('too many', [many(257, a.signatures[0] ?? many(64, '1').join(''))]),
    bad('one that is none', [[NO_KEY]]),
  ],
  getSignaturesForAddress: (a) => [
    ...(a.signatures[0] === undefined
      ? []
      : [good('before a signature', [a.wallet, { before: a.signatures[0], limit: 10 }])]),
    bad('too many', [a.wallet, { limit: 1001 }]),
    bad('none', [a.wallet, { limit: 0 }]),
    bad('a signature that is none', [a.wallet, { before: NO_KEY }]),
    ...badKeys(),
  ],
  getSlot: () => [...atEach((commitment) => [{ commitment }], 'rising'), bad('a number', [5])],
  getSlotLeader: () => [good('now', [], 'shape')],
  getSlotLeaders: (a) => [
    good('of a range', [a.slot, 5]),
    bad('too many', [a.slot, 5001]),
    bad('one parameter', [a.slot]),
  ],
  getStakeMinimumDelegation: () => [good('now', [], 'moving')],
  getSupply: () => [good('without the list', [{ excludeNonCirculatingAccountsList: true }])],
  getTokenAccountBalance: (a) => [
    ...tokenOf(a, ({ account, mint }) => [good('now', [account]), bad('a mint', [mint])]),
    bad('nobody', [ABSENT]),
    bad('an empty config', [ABSENT, {}]),
    ...badKeys(),
  ],
  getTokenAccountsByDelegate: (a) => [
    good('of nobody', [ABSENT, { programId: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' }]),
    bad('a program that is none', [a.wallet, { programId: a.wallet }]),
  ],
  getTokenAccountsByOwner: (a) => [
    ...tokenOf(a, ({ owner, mint, program }) => [
      good('of a mint', [owner, { mint }, { encoding: 'jsonParsed' }]),
      good('of a program', [owner, { programId: program }, { encoding: 'base64' }]),
    ]),
    bad('no filter', [a.wallet, {}]),
    bad('a mint that is not there', [a.wallet, { mint: ABSENT }]),
    bad('a program that is none', [a.wallet, { programId: a.wallet }]),
  ],
  getTokenLargestAccounts: (a) => [
    ...tokenOf(a, ({ mint }) => [good('of a mint', [mint])]),
    bad('a mint that is not there', [ABSENT]),
  ],
  getTokenSupply: (a) => [
    ...tokenOf(a, ({ mint, account }) => [good('of a mint', [mint]), bad('a token account', [account])]),
    bad('nobody', [ABSENT]),
  ],
  getTransaction: (a) => [
    ...a.signatures
      .slice(0, 5)
      .flatMap((signature) =>
        ['json', 'jsonParsed', 'base64'].map((encoding) =>
          good(`as ${encoding}`, [signature, { encoding, maxSupportedTransactionVersion: 0 }]),
        ),
      ),
    bad('a signature that is none', [NO_KEY]),
    bad('processed', [a.signatures[0] ?? NO_KEY, { commitment: 'processed' }]),
  ],
  getTransactionCount: () => [
    ...atEach((commitment) => [{ commitment }], 'shape'),
    bad('a slot that is far away', [{ minContextSlot: -1 }]),
  ],
  getVersion: () => [good('now', [], 'shape'), bad('a parameter', [1])],
  getVoteAccounts: (a) => [
    ...(a.voteAccount === null ? [] : [good('one', [{ votePubkey: a.voteAccount }], 'rising')]),
    bad('one that is none', [{ votePubkey: NO_KEY }]),
  ],
  getTransactionsForAddress: (a) => [
    ...(['signatures', 'full'] as const).map((transactionDetails) =>
      good(`${transactionDetails} of a range`, [
        a.wallet,
        {
          transactionDetails,
          limit: 5,
          filters: { slot: { lte: a.slot } },
          maxSupportedTransactionVersion: 0,
        },
      ]),
    ),
    ...badKeys(),
    bad('processed', [a.wallet, { commitment: 'processed' }]),
    bad('nothing', []),
  ],
  isBlockhashValid: (a) => [good('an old one', [a.blockhash]), bad('one that is none', [NO_KEY])],
  minimumLedgerSlot: () => [good('now', [], 'shape')],
  requestAirdrop: () => [bad('a key that is none', [NO_KEY, 1]), bad('nothing', [])],
  sendTransaction: () => [
    bad('what is no transaction', ['AAAA', { encoding: 'base64' }]),
    bad('an encoding that it does not take', ['AAAA', { encoding: 'jsonParsed' }]),
    bad('nothing', []),
  ],
  simulateTransaction: () => [
    bad('what is no transaction', ['AAAA', { encoding: 'base64' }]),
    bad('to check signatures that it replaces', [
      'AAAA',
      { sigVerify: true, replaceRecentBlockhash: true, encoding: 'base64' },
    ]),
    bad('nothing', []),
  ],
};

/** All calls of the given methods. */
export function casesFor(anchors: Anchors, names: readonly MethodName[]): ConformanceCase[] {
  return names.flatMap((method) =>
    inputs[method](anchors).map((plan) => ({
      method,
      name: plan.name,
      params: plan.params,
      by: plan.by ?? comparisonByKind[methods[method].kind],
      mustRefuse: plan.mustRefuse ?? false,
    })),
  );
}
