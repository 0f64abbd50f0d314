import { expect, it } from 'vitest';
import { anyTransaction } from '../../../test/streams/notifier-stage.ts';
import { parseJson } from '../../base/json.ts';
import { RpcError } from '../rpc-error.ts';
import type { SubscriptionKind } from '../subscriptions.ts';
import { FILTER_ADDRESSES_MAX, parseSubscription } from './parse-subscription.ts';

const KEY = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const SYSTEM = '11111111111111111111111111111111';
const SIGNATURE = '5h6xBEauJ3PK6SWCZ1PGjBvj8vDdWG3KpwATGy1ARAXFSDwt8GFXM7W5Ncn16wmqokgpiKRLuS83KUxyZyv2sUYv';

const parse = (kind: SubscriptionKind, params: string | undefined) =>
  parseSubscription(kind, params === undefined ? undefined : parseJson(params));

function errorOf(kind: SubscriptionKind, params: string | undefined): [number, string, unknown] {
  try {
    parse(kind, params);
  } catch (error) {
    if (error instanceof RpcError) return [error.code, error.message, error.data];
    throw error;
  }
  throw new Error('nothing was thrown');
}

const VIEW = { encoding: 'base64', details: 'full', rewards: false, maxVersion: undefined };
const V0 = '{"maxSupportedTransactionVersion":0}';

it.each<[SubscriptionKind, string | undefined, object]>([
  ['account', `["${KEY}"]`, { address: KEY, commitment: 'finalized', encoding: 'binary' }],
  [
    'account',
    `["${KEY}",{"encoding":"jsonParsed","commitment":"processed","dataSlice":{"offset":0,"length":4},"minContextSlot":9,"other":1}]`,
    { address: KEY, commitment: 'processed', encoding: 'jsonParsed' },
  ],
  ['program', `["${KEY}"]`, { program: KEY, commitment: 'finalized', encoding: 'binary', filters: [] }],
  ['logs', '["all"]', { of: 'all', commitment: 'finalized' }],
  ['logs', '["allWithVotes",{"commitment":"confirmed"}]', { of: 'allWithVotes', commitment: 'confirmed' }],
  ['logs', `[{"mentions":["${KEY}"]}]`, { of: { mentions: KEY }, commitment: 'finalized' }],
  ['signature', `["${SIGNATURE}"]`, { signature: SIGNATURE, commitment: 'finalized', received: false }],
  ['slot', undefined, {}],
  ['vote', '[]', {}],
  ['block', '["all"]', { mentions: null, commitment: 'finalized', ...VIEW }],
  [
    'transaction',
    `[{},${V0}]`,
    { dialect: 'helius', filter: anyTransaction, commitment: 'finalized', ...VIEW, maxVersion: 0 },
  ],
  [
    'transaction',
    `[{"vote":false,"failed":true,"signature":"${SIGNATURE}","accountInclude":["${KEY}"],"accountExclude":["${SYSTEM}"],"accountRequired":null,"tokenAccounts":"balanceChanged"},{"transactionDetails":"signatures","commitment":"processed"}]`,
    {
      dialect: 'helius',
      filter: {
        vote: false,
        failed: true,
        signature: SIGNATURE,
        include: [KEY],
        exclude: [SYSTEM],
        required: [],
        tokenAccounts: 'balanceChanged',
      },
      commitment: 'processed',
      ...VIEW,
      details: 'signatures',
    },
  ],
  [
    'transaction',
    `[{"accounts":{"include":["${KEY}"],"required":["${SYSTEM}"]}}]`,
    {
      dialect: 'whirligig',
      filter: { ...anyTransaction, include: [KEY], required: [SYSTEM] },
      commitment: 'finalized',
      ...VIEW,
    },
  ],
])('a subscription is parsed with all defaults: %s of %s', (kind, params, expected) => {
  expect(parse(kind, params)).toEqual({ kind, ...expected });
});

const tooMany = JSON.stringify(Array(FILTER_ADDRESSES_MAX + 1).fill(SYSTEM));
const BAD_KEY = 'Invalid Request: Invalid pubkey provided';

it.each<[SubscriptionKind, string, string]>([
  ['account', '[]', '`params` should have at least 1 argument(s)'],
  ['account', '["2"]', BAD_KEY],
  ['logs', `[{"mentions":["${KEY}","${KEY}"]}]`, 'Invalid Request: Only 1 address supported'],
  ['logs', '[{"mentions":["2"]}]', 'Invalid Request: Invalid mentions provided'],
  ['signature', `["${KEY}"]`, 'Invalid Request: Invalid signature provided'],
  [
    'block',
    '[{"mentionsAccountOrProgram":"2"},{"commitment":"processed"}]',
    'Method does not support commitment below `confirmed`',
  ],
  [
    'transaction',
    '[{}]',
    'Invalid Request: maxSupportedTransactionVersion is required for transactionDetails "full" and "accounts"',
  ],
  ['transaction', `[{"accountInclude":["2"]},${V0}]`, BAD_KEY],
  ['transaction', `[{"signature":"2"},${V0}]`, 'Invalid Request: Invalid signature provided'],
  [
    'transaction',
    `[{"accountRequired":${tooMany}},${V0}]`,
    'Invalid Request: Too many addresses in accountRequired; max 50000',
  ],
  [
    'transaction',
    `[{"accounts":{},"accountInclude":["${KEY}"]}]`,
    'Invalid params: unknown field `accountInclude`, expected one of `vote`, `failed`, `signature`, `accounts`.',
  ],
])('a subscription is rejected with -32602: %s of %.120s', (kind, params, message) => {
  expect(errorOf(kind, params)).toEqual([-32602, message, undefined]);
});

it.each<SubscriptionKind>(['account', 'program', 'logs', 'signature', 'block'])(
  'a third parameter is rejected: %s',
  (kind) => {
    const message = 'Invalid parameters: Expected from 1 to 2 parameters.';
    expect(errorOf(kind, '["all",{},1]')).toEqual([-32602, message, '"Got: 3"']);
  },
);
