import { commitments } from '../../src/protocol/commitment.ts';
import { key, tokenAccount } from './actors.ts';

/** A subscription of the recording. */
export type RecordedSubscription = Readonly<{
  /** Unique. */
  name: string;
  method: string;
  /** JSON. `<signature:STEP>` stands for the signature of a step that has landed. */
  params: string;
  /** Opened after this step; by default before the first. */
  after?: string;
  /** Notifications of one slot come in no certain order. */
  isUnordered?: true;
}>;

/** Steps of the script that cause the notifications. */
export const notifyingSteps: readonly string[] = [
  'airdrop payer',
  'airdrop poor',
  'transfer',
  'transfer v0',
  'transfer by two',
  'memo',
  'create account',
  'create large account',
  'close wallet',
  'fail: insufficient funds',
  'fail: no program',
  'create nonce',
  'use nonce',
  'create mint',
  'create token account',
  'create token account idempotently',
  'mint tokens',
  'transfer tokens',
  'fail: too few tokens',
  'close token account',
];

const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const SYSTEM_PROGRAM = '11111111111111111111111111111111';
const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';
const TOKEN_ACCOUNT_BYTES = 165;

const address = (name: string): string => {
  const [owner = '', mint] = name.split('/');
  return (mint === undefined ? key(owner) : tokenAccount(owner, mint)).toBase58();
};

type Config = Readonly<Record<string, unknown>>;
type Options = Pick<RecordedSubscription, 'after' | 'isUnordered'>;

function subscription(
  kind: string,
  first: unknown,
  config: Config,
  shown: string,
  options: Options = {},
): RecordedSubscription {
  const late = options.after === undefined ? '' : ` after "${options.after}"`;
  return {
    name: `${kind} ${shown} ${JSON.stringify(config)}${late}`,
    method: `${kind}Subscribe`,
    params: JSON.stringify([first, config]),
    ...options,
  };
}

const account = (name: string, config: Config, options?: Options): RecordedSubscription =>
  subscription('account', address(name), config, name, options);
const program = (id: string, shown: string, config: Config, options?: Options): RecordedSubscription =>
  subscription('program', id, config, shown, { ...options, isUnordered: true });
const logs = (filter: unknown, shown: string, config: Config, options?: Options): RecordedSubscription =>
  subscription('logs', filter, config, shown, options);
const block = (filter: unknown, shown: string, config: Config): RecordedSubscription =>
  subscription('block', filter, config, shown);
const signature = (step: string, config: Config): RecordedSubscription =>
  subscription('signature', `<signature:${step}>`, config, step, { after: step });

const ENCODINGS = ['binary', 'base58', 'base64', 'base64+zstd', 'jsonParsed'];
const processed = { commitment: 'processed' };

const accounts: readonly RecordedSubscription[] = [
  ...commitments.map((commitment) => account('alice', { commitment, encoding: 'base64' })),
  account('alice', {}),
  ...['data', 'alice/mint'].flatMap((name) =>
    ENCODINGS.map((encoding) => account(name, { ...processed, encoding })),
  ),
  ...['base58', 'base64', 'jsonParsed'].map((encoding) => account('nonce', { ...processed, encoding })),
  account('large', { ...processed, encoding: 'base64+zstd' }),
  account('alice/mint', { ...processed, encoding: 'base64', dataSlice: { offset: 4, length: 8 } }),
  account('mint', { commitment: 'confirmed', encoding: 'jsonParsed' }),
  account('poor', { ...processed, encoding: 'base64' }),
  account('poor/mint', { ...processed, encoding: 'jsonParsed' }),
  account('absent', { ...processed, encoding: 'base64' }),
  account('bob', { commitment: 'finalized', encoding: 'base64' }, { after: 'transfer v0' }),
  account('bob', { commitment: 'confirmed', encoding: 'base64' }, { after: 'transfer v0' }),
];

const mintFilter = { memcmp: { offset: 0, bytes: address('mint') } };

const programAccounts: readonly RecordedSubscription[] = [
  ...commitments.map((commitment) => program(SYSTEM_PROGRAM, 'System', { commitment, encoding: 'base64' })),
  program(SYSTEM_PROGRAM, 'System', { ...processed, encoding: 'jsonParsed', filters: [{ dataSize: 80 }] }),
  ...ENCODINGS.map((encoding) => program(TOKEN_PROGRAM, 'Token', { ...processed, encoding })),
  ...[
    [{ dataSize: TOKEN_ACCOUNT_BYTES }],
    [mintFilter],
    ['tokenAccountState'],
    [{ dataSize: TOKEN_ACCOUNT_BYTES }, mintFilter],
    [{ dataSize: 7 }],
  ].map((filters) => program(TOKEN_PROGRAM, 'Token', { ...processed, encoding: 'jsonParsed', filters })),
  program(TOKEN_PROGRAM, 'Token', { ...processed, encoding: 'base64', withContext: true }),
  program(TOKEN_PROGRAM, 'Token', {
    ...{ ...processed, encoding: 'base64', dataSlice: { offset: 0, length: 4 } },
  }),
  program(address('owner'), 'owner', {}),
];

const transactionLogs: readonly RecordedSubscription[] = [
  ...commitments.map((commitment) => logs('all', 'all', { commitment })),
  logs('all', 'all', {}),
  ...['alice', 'poor', 'absent'].map((name) => logs({ mentions: [address(name)] }, name, processed)),
  ...[TOKEN_PROGRAM, MEMO_PROGRAM].map((id) => logs({ mentions: [id] }, id, { commitment: 'confirmed' })),
];

const signatures: readonly RecordedSubscription[] = [
  ...commitments.flatMap((commitment) =>
    ['transfer', 'fail: insufficient funds'].map((step) => signature(step, { commitment })),
  ),
  signature('transfer v0', { commitment: 'confirmed', enableReceivedNotification: true }),
];

const full = { commitment: 'confirmed', maxSupportedTransactionVersion: 0 };
const byAlice = { mentionsAccountOrProgram: address('alice') };

const blocks: readonly RecordedSubscription[] = [
  // Whose transactions have several signers; only the first signature has a name within encoded bytes.
  ...['json', 'jsonParsed'].map((encoding) => block(byAlice, 'alice', { ...full, encoding })),
  ...['accounts', 'signatures', 'none'].map((transactionDetails) =>
    block(byAlice, 'alice', { ...full, transactionDetails }),
  ),
  block(byAlice, 'alice', { ...full, commitment: 'finalized', transactionDetails: 'signatures' }),
  block(byAlice, 'alice', { ...full, transactionDetails: 'signatures', showRewards: true }),
  block({ mentionsAccountOrProgram: MEMO_PROGRAM }, 'Memo', { ...full, encoding: 'json' }),
  block({ mentionsAccountOrProgram: address('absent') }, 'absent', full),
  block({ mentionsAccountOrProgram: address('bob') }, 'bob', { commitment: 'confirmed' }),
];

/** The subscriptions whose notifications the script causes. */
export const recordedSubscriptions: readonly RecordedSubscription[] = [
  ...accounts,
  ...programAccounts,
  ...transactionLogs,
  ...signatures,
  ...blocks,
];

/** @returns params with the signatures of steps in place of their names. */
export const paramsOf = ({ params }: RecordedSubscription, signatures: ReadonlyMap<string, string>): string =>
  params.replace(/<signature:([^>]+)>/, (_, step: string) => signatures.get(step) ?? '');
