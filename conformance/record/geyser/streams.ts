import { type Commitment, commitments } from '../../../src/protocol/commitment.ts';
import { programs } from '../../../src/solana/programs.ts';
import { key, tokenAccount } from '../actors.ts';
import type { Message } from './client.ts';

/** A stream that is open while the script runs, or that is refused. Later requests replace the first one. */
export type RecordedSubscription = Readonly<{ name: string; requests: readonly Message[] }>;

const at = (level: Commitment, request: Message): Message => ({
  ...request,
  commitment: level.toUpperCase(),
});

const address = (name: string): string => key(name).toBase58();
const [alice, bob, carol, payer] = ['alice', 'bob', 'carol', 'payer'].map(address) as [
  string,
  string,
  string,
  string,
];
const mint = address('mint');
const aliceTokens = tokenAccount('alice', 'mint').toBase58();
const { system, token, token2022, stake, vote } = programs;
/** Neither an account nor a program of the script. */
const STRANGER = address('stranger');

const memcmp = (offset: number, data: Message): Message => ({ memcmp: { offset, ...data } });
const mintBytes = Buffer.from(key('mint').toBytes());

/** Filters of accounts, by name. */
const accountFilters: Readonly<Record<string, Message>> = {
  'every account': {},
  'one account': { account: [alice] },
  'two accounts': { account: [alice, bob] },
  'an account twice': { account: [alice, alice] },
  'an account that is never written': { account: [STRANGER] },
  'a token account': { account: [aliceTokens] },
  'one owner': { owner: [token] },
  'two owners': { owner: [token, token2022] },
  'System program': { owner: [system] },
  'Stake program': { owner: [stake] },
  'Vote program': { owner: [vote] },
  'account and owner': { account: [alice, aliceTokens], owner: [token] },
  'account of another owner': { account: [alice], owner: [token] },
  'with a signature': { nonempty_txn_signature: true },
  'without a signature': { nonempty_txn_signature: false },
  'account with a signature': { account: [alice], nonempty_txn_signature: true },
  'account without a signature': { account: [alice], nonempty_txn_signature: false },
};

/** Lists of account filters of one owner, by name. */
const dataFilters: Readonly<Record<string, readonly Message[]>> = {
  'size of a token account': [{ datasize: 165 }],
  'size of a mint': [{ datasize: 82 }],
  'no data': [{ datasize: 0 }],
  'token account state': [{ token_account_state: true }],
  'bytes as base58': [memcmp(0, { base58: mint })],
  'bytes as base64': [memcmp(0, { base64: mintBytes.toString('base64') })],
  'bytes as bytes': [memcmp(0, { bytes: mintBytes })],
  'bytes at an offset': [memcmp(32, { base58: alice })],
  'bytes beyond the data': [memcmp(10_000, { base58: alice })],
  'no bytes': [memcmp(0, { bytes: Buffer.alloc(0) })],
  'no bytes beyond the data': [memcmp(10_000, { bytes: Buffer.alloc(0) })],
  'two ranges of bytes': [memcmp(0, { base58: mint }), memcmp(32, { base58: bob })],
  'size and bytes': [{ datasize: 165 }, memcmp(0, { base58: mint })],
  'state and bytes': [{ token_account_state: true }, memcmp(32, { base58: alice })],
  'lamports equal': [{ lamports: { eq: 2_039_280 } }],
  'lamports not equal': [{ lamports: { ne: 2_039_280 } }],
  'lamports less': [{ lamports: { lt: 2_039_280 } }],
  'lamports greater': [{ lamports: { gt: 2_039_280 } }],
  'lamports between': [{ lamports: { gt: 1_000_000 } }, { lamports: { lt: 2_039_281 } }],
  'lamports zero': [{ lamports: { eq: 0 } }],
  'four filters': [
    { datasize: 165 },
    { token_account_state: true },
    memcmp(0, { base58: mint }),
    { lamports: { gt: 0 } },
  ],
};

const slices: Readonly<Record<string, readonly Message[]>> = {
  'first bytes': [{ offset: 0, length: 32 }],
  'no bytes': [{ offset: 0, length: 0 }],
  'middle bytes': [{ offset: 32, length: 32 }],
  'two slices': [
    { offset: 0, length: 8 },
    { offset: 64, length: 8 },
  ],
  'adjacent slices': [
    { offset: 0, length: 8 },
    { offset: 8, length: 8 },
  ],
  'beyond the data': [{ offset: 160, length: 32 }],
  'far beyond the data': [{ offset: 100_000, length: 1 }],
};

const slotFilters: Readonly<Record<string, Message>> = {
  default: {},
  'by commitment': { filter_by_commitment: true },
  'not by commitment': { filter_by_commitment: false },
  'between slots': { interslot_updates: true },
  'between slots, by commitment': { interslot_updates: true, filter_by_commitment: true },
};

const transactionFilters: Readonly<Record<string, Message>> = {
  all: {},
  'no votes': { vote: false },
  votes: { vote: true },
  failed: { failed: true },
  successful: { vote: false, failed: false },
  'including one account': { account_include: [alice] },
  'including one of two': { account_include: [alice, carol] },
  'including a program': { account_include: [token] },
  'including a stranger': { account_include: [STRANGER] },
  'excluding one account': { vote: false, account_exclude: [alice] },
  'excluding the payer': { vote: false, account_exclude: [payer] },
  'requiring one account': { account_required: [bob] },
  'requiring two accounts': { account_required: [alice, bob] },
  'including and excluding': { account_include: [alice], account_exclude: [bob] },
  'including and requiring': { account_include: [alice, carol], account_required: [token] },
  'all three lists': { account_include: [bob], account_exclude: [token2022], account_required: [payer] },
  'failed of one account': { failed: true, account_include: [alice] },
  'token accounts of an owner': { account_include: [bob], token_accounts: 'ALL' },
  'changed token balances of an owner': { account_include: [bob], token_accounts: 'BALANCE_CHANGED' },
  'an unknown signature': { signature: '1'.repeat(64) },
};

const blockFilters: Readonly<Record<string, Message>> = {
  default: {},
  'without transactions': { include_transactions: false },
  'with accounts': { include_accounts: true },
  'with entries': { include_entries: true },
  'with everything': { include_transactions: true, include_accounts: true, include_entries: true },
  'of one account': { account_include: [alice], include_accounts: true },
  'of a stranger': { account_include: [STRANGER], include_accounts: true },
};

type Kind = 'accounts' | 'transactions' | 'transactions_status' | 'slots' | 'blocks';

const each = (
  kind: Kind,
  filters: Readonly<Record<string, Message>>,
  levels: readonly Commitment[],
): RecordedSubscription[] =>
  levels.flatMap((level) =>
    Object.entries(filters).map(([name, filter]) => ({
      name: `${kind}, ${level}: ${name}`,
      requests: [at(level, { [kind]: { filter } })],
    })),
  );

const owned = (filters: readonly Message[]): Message => ({ owner: [token], filters });
const ofTokens = Object.fromEntries(
  Object.entries(dataFilters).map(([name, filters]) => [`token accounts, ${name}`, owned(filters)]),
);
const ofEverything = Object.fromEntries(
  Object.entries(dataFilters)
    .slice(0, 8)
    .map(([name, filters]) => [`any owner, ${name}`, { filters }]),
);

const pick = <Value>(from: Readonly<Record<string, Value>>, ...names: string[]): Record<string, Value> =>
  Object.fromEntries(names.map((name) => [name, from[name] as Value]));

const several: readonly RecordedSubscription[] = [
  {
    name: 'two filters that overlap',
    requests: [{ accounts: { 'of alice': { account: [alice] }, 'of System': { owner: [system] } } }],
  },
  {
    name: 'filters of each kind',
    requests: [
      at('confirmed', {
        accounts: { a: { account: [alice] } },
        slots: { s: {} },
        transactions: { t: { account_include: [alice] } },
        transactions_status: { u: { account_include: [alice] } },
        blocks: { b: { account_include: [alice] } },
        blocks_meta: { m: {} },
        entry: { e: {} },
      }),
    ],
  },
  { name: 'one kind without filters', requests: [{ accounts: {} }] },
  { name: 'an empty filter name', requests: [{ transactions: { '': { account_include: [alice] } } }] },
  {
    name: 'the longest filter name',
    requests: [{ transactions: { ['n'.repeat(128)]: { account_include: [alice] } } }],
  },
  {
    name: 'a second request replaces the first',
    requests: [
      { transactions: { first: { account_include: [alice] } } },
      { transactions: { second: { account_include: [carol] } } },
    ],
  },
  {
    name: 'an empty request stops all',
    requests: [{ transactions: { first: { account_include: [alice] } } }, {}],
  },
  {
    name: 'a ping leaves the filters',
    requests: [{ transactions: { first: { account_include: [carol] } } }, { ping: { id: 7 } }],
  },
  { name: 'pings only', requests: [{ ping: { id: 1 } }, { ping: { id: -2 } }] },
  {
    name: 'a ping with filters sets none',
    requests: [{ ping: { id: 3 }, transactions: { first: { account_include: [alice] } } }],
  },
];

/** Streams without filters of their own content. */
const whole: readonly RecordedSubscription[] = commitments.flatMap((level) => [
  { name: `blocks_meta, ${level}`, requests: [at(level, { blocks_meta: { filter: {} } })] },
  { name: `entry, ${level}`, requests: [at(level, { entry: { filter: {} } })] },
]);

/** Streams that are open while the script runs. */
export const liveSubscriptions: readonly RecordedSubscription[] = [
  ...each('accounts', accountFilters, ['processed']),
  ...each('accounts', ofTokens, ['processed']),
  ...each('accounts', ofEverything, ['processed']),
  ...each('accounts', pick(accountFilters, 'one account', 'one owner', 'with a signature'), [
    'confirmed',
    'finalized',
  ]),
  ...Object.entries(slices).map(([name, parts]) => ({
    name: `slices: ${name}`,
    requests: [{ accounts: { filter: { owner: [token] } }, accounts_data_slice: parts }],
  })),
  ...each('slots', slotFilters, commitments),
  ...each('transactions', transactionFilters, ['processed']),
  ...each('transactions', pick(transactionFilters, 'no votes', 'including one account'), [
    'confirmed',
    'finalized',
  ]),
  ...each('transactions_status', transactionFilters, ['confirmed']),
  ...each('blocks', blockFilters, ['confirmed']),
  ...each('blocks', pick(blockFilters, 'default', 'with everything'), ['processed', 'finalized']),
  ...whole,
  ...several,
];

const filter = (given: Message): Message => ({ accounts: { filter: given } });
const one = (given: Message): Message => filter({ filters: [given] });
const transaction = (given: Message): Message => ({ transactions: { filter: given } });

/** Requests that the server refuses. */
const refused: Readonly<Record<string, Message>> = {
  'a filter name that is too long': { transactions: { ['n'.repeat(129)]: {} } },
  'a name of a slot filter that is too long': { slots: { ['n'.repeat(129)]: {} } },
  'five filters': filter({ filters: Array.from({ length: 5 }, () => ({ lamports: { gt: 0 } })) }),
  'a filter that is empty': one({}),
  'bytes that are too long': one(memcmp(0, { bytes: Buffer.alloc(129) })),
  'base58 that is too long': one(memcmp(0, { base58: '2'.repeat(176) })),
  'base64 that is too long': one(memcmp(0, { base64: 'A'.repeat(176) })),
  'bytes that are no base58': one(memcmp(0, { base58: '0OIl' })),
  'bytes that are no base64': one(memcmp(0, { base64: '!' })),
  'a comparison without bytes': one(memcmp(0, {})),
  'two sizes': filter({ filters: [{ datasize: 1 }, { datasize: 2 }] }),
  'no token account state': one({ token_account_state: false }),
  'lamports without a comparison': one({ lamports: {} }),
  'an account that is no address': filter({ account: ['not an address'] }),
  'an account that is too short': filter({ account: ['1111'] }),
  'an empty account': filter({ account: [''] }),
  'an owner that is no address': filter({ owner: ['not an address'] }),
  'an included account that is no address': transaction({ account_include: ['!'] }),
  'an excluded account that is no address': transaction({ account_exclude: ['!'] }),
  'a required account that is no address': transaction({ account_required: ['!'] }),
  'a signature that is none': transaction({ signature: 'short' }),
  'an unknown mode of token accounts': transaction({ account_include: [alice], token_accounts: 7 }),
  'an account of a block that is no address': { blocks: { filter: { account_include: ['!'] } } },
  'an unknown commitment': { slots: { filter: {} }, commitment: 7 },
  'slices out of order': {
    ...filter({}),
    accounts_data_slice: [
      { offset: 8, length: 8 },
      { offset: 0, length: 8 },
    ],
  },
  'slices that overlap': {
    ...filter({}),
    accounts_data_slice: [
      { offset: 0, length: 8 },
      { offset: 4, length: 8 },
    ],
  },
  'a slot that is gone': { ...transaction({ vote: false }), from_slot: 1 },
  'a slot that is far away': { ...transaction({ vote: false }), from_slot: '18446744073709551615' },
};

export const refusedSubscriptions: readonly RecordedSubscription[] = Object.entries(refused).map(
  ([name, request]) => ({ name: `refused: ${name}`, requests: [request] }),
);
