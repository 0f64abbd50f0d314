import type { WritableJson } from '../../../src/base/json.ts';
import { commitments } from '../../../src/protocol/commitment.ts';
import { call, type RecordedCase } from './recorded-case.ts';

type Members = { readonly [name: string]: WritableJson };

const base64: Members = { encoding: 'base64' };

/** Not transactions, by what is wrong with them. */
const malformed: Readonly<Record<string, readonly [text: string, encoding: string | null]>> = {
  'empty base64': ['', 'base64'],
  'no base64': ['!', 'base64'],
  'base64 without padding': ['AAA', 'base64'],
  'three zero bytes': ['AAAA', 'base64'],
  'one signature and no message': [
    Buffer.concat([Buffer.from([1]), Buffer.alloc(64)]).toString('base64'),
    'base64',
  ],
  '1233 bytes': [Buffer.alloc(1_233).toString('base64'), 'base64'],
  '4097 bytes': [Buffer.alloc(4_097).toString('base64'), 'base64'],
  'empty base58': ['', null],
  'no base58': ['0OIl', null],
  'three bytes of base58': ['3Mc6', 'base58'],
  '1233 bytes of base58': ['1'.repeat(1_233), 'base58'],
  '1684 digits of base58': ['2'.repeat(1_684), 'base58'],
  jsonParsed: ['AAAA', 'jsonParsed'],
  'base64+zstd': ['AAAA', 'base64+zstd'],
  'an unknown encoding': ['AAAA', 'hex'],
  binary: ['AAAA', 'binary'],
};

const malformedCases: readonly RecordedCase[] = ['sendTransaction', 'simulateTransaction'].flatMap((method) =>
  Object.entries(malformed).map(([label, [text, encoding]]) =>
    call(method, `refuses ${label}`, encoding === null ? [text] : [text, { encoding }]),
  ),
);

/** Transactions of unsent.ts that end in different ways. */
const ends = [
  ...['transfer', 'transfer v0', 'transfer v1', 'insufficient', 'no payer', 'stale', 'forged', 'unsigned'],
  ...[
    'two signers',
    'missing signer',
    'duplicate budget',
    'wrong budget',
    'tokens',
    'too many tokens',
    'memo',
  ],
  ...['unknown table', 'no instructions', 'account twice', 'trailing bytes', 'rent', 'no program'],
];

const simulations: Readonly<Record<string, Members>> = {
  'checking signatures': { sigVerify: true },
  'replacing the blockhash': { replaceRecentBlockhash: true },
  both: { sigVerify: true, replaceRecentBlockhash: true },
  'with inner instructions': { innerInstructions: true },
  'null flags': { sigVerify: null, replaceRecentBlockhash: null, innerInstructions: null },
  'a flag text': { sigVerify: 'true' },
  'a flag number': { replaceRecentBlockhash: 1 },
};

const accountLists: Readonly<Record<string, WritableJson>> = {
  null: null,
  empty: { addresses: [] },
  'without addresses': {},
  base58: { encoding: 'base58', addresses: [] },
  binary: { encoding: 'binary', addresses: [] },
  'an unknown encoding': { encoding: 'hex', addresses: [] },
  'no base58 address': { encoding: 'base64', addresses: ['0OIl'] },
  'a short address': { encoding: 'base64', addresses: ['1111'] },
  'too many': { encoding: 'base64', addresses: Array(10).fill('11111111111111111111111111111111') },
  'a list': [],
};

const simulate = (name: string, label: string, config: Members): RecordedCase =>
  call('simulateTransaction', `${name} ${label}`, (f) => [f.unsent(name), { ...base64, ...config }]);

const simulateCases: readonly RecordedCase[] = [
  ...ends.flatMap((name) => [
    simulate(name, 'as it is', {}),
    simulate(name, 'checking signatures', { sigVerify: true }),
    simulate(name, 'replacing the blockhash', { replaceRecentBlockhash: true }),
  ]),
  ...Object.entries(simulations).map(([label, config]) => simulate('tokens', `twice ${label}`, config)),
  ...Object.entries(accountLists).map(([label, accounts]) =>
    simulate('transfer', `with accounts ${label}`, { accounts }),
  ),
  ...['base64', 'base64+zstd', 'jsonParsed'].flatMap((encoding) =>
    ['tokens', 'insufficient'].map((name) =>
      call('simulateTransaction', `${name} with accounts in ${encoding}`, (f) => [
        f.unsent(name),
        { ...base64, accounts: { encoding, addresses: [f.address('alice/mint'), f.address('absent')] } },
      ]),
    ),
  ),
  ...commitments.map((commitment) => simulate('memo', `at ${commitment}`, { commitment })),
  ...[undefined, 'base58'].map((encoding) =>
    call('simulateTransaction', `encoding ${encoding}`, (f) => [
      f.unsent('transfer', 'base58'),
      { encoding },
    ]),
  ),
  simulate('associated account', 'with inner instructions', { innerInstructions: true }),
];

const feeCases: readonly RecordedCase[] = [
  ...[
    'transfer',
    'transfer v0',
    'transfer v1',
    'two signers',
    'wrong budget',
    'priority',
    'memo',
    'stale',
  ].map((name) => call('getFeeForMessage', name, (f) => [f.message(name)])),
  ...commitments.map((commitment) =>
    call('getFeeForMessage', `at ${commitment}`, (f) => [f.message('transfer'), { commitment }]),
  ),
  ...[
    ['no message', 'AAAA'],
    ['no base64', '!'],
    ['no padding', 'AAA'],
    ['too long', Buffer.alloc(1_233).toString('base64')],
  ].map(([label, text]) => call('getFeeForMessage', `refuses ${label}`, [text ?? ''])),
];

const send = (label: string, name: string, config: Members): RecordedCase =>
  call('sendTransaction', label, (f) => [f.unsent(name), { ...base64, ...config }]);

/** They change state: those that land pay from an account that no other case reads. */
const sendCases: readonly RecordedCase[] = [
  ...ends
    .filter((name) => !['transfer', 'transfer v0'].includes(name))
    .map((name) => send(`${name} checked`, name, {})),
  ...['insufficient', 'no payer', 'stale', 'forged', 'unsigned'].map((name) =>
    send(`${name} unchecked`, name, { skipPreflight: true }),
  ),
  send('maxRetries 0', 'sent 1', { maxRetries: 0 }),
  send('maxRetries -1', 'sent 1', { maxRetries: -1 }),
  send('maxRetries text', 'sent 1', { maxRetries: '0' }),
  send('minContextSlot 0', 'sent 2', { minContextSlot: 0 }),
  send('minContextSlot ahead', 'sent 3', { minContextSlot: 900_000_000 }),
  send('minContextSlot ahead unchecked', 'sent 3', { minContextSlot: 900_000_000, skipPreflight: true }),
  ...commitments.map((preflightCommitment) =>
    send(`preflight at ${preflightCommitment}`, `sent ${preflightCommitment}`, { preflightCommitment }),
  ),
  send('preflight at an unknown commitment', 'sent 4', { preflightCommitment: 'recent' }),
  call('sendTransaction', 'base58 by default', (f) => [f.unsent('sent 5', 'base58')]),
  call('sendTransaction', 'base58', (f) => [f.unsent('sent 6', 'base58'), { encoding: 'base58' }]),
  send('a known transaction', 'sent 1', { preflightCommitment: 'processed', skipPreflight: true }),
];

const airdropCases: readonly RecordedCase[] = [
  call('requestAirdrop', 'one lamport', (f) => [f.address('receiver'), 1]),
  call('requestAirdrop', 'more than the faucet has', (f) => [f.address('receiver'), 9_000_000_000_000_000]),
  call('requestAirdrop', 'with an unknown blockhash', (f) => [
    f.address('receiver'),
    2,
    { recentBlockhash: f.address('absent') },
  ]),
  call('requestAirdrop', 'with a blockhash', (f) => [
    f.address('receiver'),
    3,
    { recentBlockhash: f.blockhash('unsent') },
  ]),
  call('requestAirdrop', 'with a blockhash that is no base58', (f) => [
    f.address('receiver'),
    4,
    { recentBlockhash: '0OIl' },
  ]),
];

/** Simulations, fees, sending and airdrops. */
export const sendingCases: readonly RecordedCase[] = [
  ...[malformedCases, simulateCases, feeCases, sendCases, airdropCases].flat(),
];
