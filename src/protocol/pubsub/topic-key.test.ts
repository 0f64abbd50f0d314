import { describe, expect, it } from 'vitest';
import { parseJson } from '../../base/json.ts';
import type { SubscriptionKind } from '../subscriptions.ts';
import { parseSubscription } from './parse-subscription.ts';
import { subscriptionByMethod } from './subscription-method.ts';
import { topicKey, upstreamParams } from './topic-key.ts';

const KEY = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const SYSTEM = '11111111111111111111111111111111';
const SIGNATURE = '5h6xBEauJ3PK6SWCZ1PGjBvj8vDdWG3KpwATGy1ARAXFSDwt8GFXM7W5Ncn16wmqokgpiKRLuS83KUxyZyv2sUYv';

const parse = (kind: SubscriptionKind, params: string) => parseSubscription(kind, parseJson(params));
const keyOf = (kind: SubscriptionKind, params: string): string => topicKey(parse(kind, params));

describe('upstreamParams', () => {
  it.each<[SubscriptionKind, string, string]>([
    ['account', `["${KEY}"]`, `["${KEY}",{"commitment":"finalized","encoding":"binary"}]`],
    [
      'program',
      `["${KEY}",{"filters":[{"memcmp":{"offset":18446744073709551615,"bytes":"AQ==","encoding":"base64"}},{"dataSize":165},"tokenAccountState"]}]`,
      `["${KEY}",{"commitment":"finalized","encoding":"binary","filters":[{"memcmp":{"offset":18446744073709551615,"bytes":"2","encoding":"base58"}},{"dataSize":165},"tokenAccountState"]}]`,
    ],
    ['logs', '["all"]', '["all",{"commitment":"finalized"}]'],
    ['logs', `[{"mentions":["${KEY}"]}]`, `[{"mentions":["${KEY}"]},{"commitment":"finalized"}]`],
    [
      'signature',
      `["${SIGNATURE}"]`,
      `["${SIGNATURE}",{"commitment":"finalized","enableReceivedNotification":false}]`,
    ],
    ['slotsUpdates', '[]', '[]'],
    [
      'block',
      `[{"mentionsAccountOrProgram":"${KEY}"},{"maxSupportedTransactionVersion":0}]`,
      `[{"mentionsAccountOrProgram":"${KEY}"},{"commitment":"finalized","encoding":"base64","transactionDetails":"full","showRewards":false,"maxSupportedTransactionVersion":0}]`,
    ],
    [
      'transaction',
      `[{"accounts":{"include":["${KEY}","${SYSTEM}","${KEY}"]}}]`,
      `[{"accounts":{"include":["${SYSTEM}","${KEY}"],"exclude":[],"required":[]}},{"commitment":"finalized","encoding":"base64","transactionDetails":"full","showRewards":false}]`,
    ],
  ])('of %s %s writes every default out', (kind, params, expected) => {
    expect(upstreamParams(parse(kind, params)).toString()).toBe(expected);
  });

  it('is read back as the same subscription', () => {
    const params = `["${KEY}",{"filters":[{"memcmp":{"offset":0,"bytes":""}}],"encoding":"base64+zstd"}]`;
    const subscription = parse('program', params);
    expect(parse('program', upstreamParams(subscription).toString())).toEqual(subscription);
  });
});

describe('topicKey', () => {
  it('is equal for parameters that mean the same', () => {
    expect(keyOf('account', `["${KEY}",{"commitment":"max"}]`)).toBe(keyOf('account', `["${KEY}"]`));
    const options = '{"maxSupportedTransactionVersion":0}';
    const one = `[{"accountInclude":["${KEY}","${SYSTEM}"],"vote":null},${options}]`;
    const other = `[{"accountInclude":["${SYSTEM}","${KEY}","${KEY}"]},${options}]`;
    expect(keyOf('transaction', one)).toBe(keyOf('transaction', other));
  });

  it.each<[SubscriptionKind, string, string]>([
    ['account', `["${KEY}"]`, `["${SYSTEM}"]`],
    ['account', `["${KEY}"]`, `["${KEY}",{"commitment":"confirmed"}]`],
    ['account', `["${KEY}"]`, `["${KEY}",{"encoding":"base58"}]`],
    ['program', `["${KEY}"]`, `["${KEY}",{"filters":["tokenAccountState"]}]`],
    ['logs', '["all"]', '["allWithVotes"]'],
    ['signature', `["${SIGNATURE}"]`, `["${SIGNATURE}",{"enableReceivedNotification":true}]`],
    ['block', '["all"]', '["all",{"maxSupportedTransactionVersion":0}]'],
    [
      'transaction',
      `[{"accountInclude":["${KEY}"]},{"maxSupportedTransactionVersion":0}]`,
      `[{"accounts":{"include":["${KEY}"]}},{"maxSupportedTransactionVersion":0}]`,
    ],
    [
      'transaction',
      `[{"accountInclude":["${KEY}"]},{"maxSupportedTransactionVersion":0}]`,
      `[{"accountRequired":["${KEY}"]},{"maxSupportedTransactionVersion":0}]`,
    ],
  ])('of %s differs between %s and %s', (kind, one, other) => {
    expect(keyOf(kind, one)).not.toBe(keyOf(kind, other));
  });

  it('differs between kinds', () => {
    expect(new Set(['slot', 'root', 'vote', 'slotsUpdates'].map((k) => keyOf(k as 'slot', '[]'))).size).toBe(
      4,
    );
  });
});

describe('subscriptionByMethod', () => {
  it('finds both methods of a kind and nothing else', () => {
    expect(subscriptionByMethod('slotsUpdatesSubscribe')).toEqual({
      kind: 'slotsUpdates',
      action: 'subscribe',
    });
    expect(subscriptionByMethod('voteUnsubscribe')).toEqual({ kind: 'vote', action: 'unsubscribe' });
    for (const name of ['constructor', '__proto__', 'getSlot', 'slotNotification', '']) {
      expect(subscriptionByMethod(name)).toBeUndefined();
    }
  });
});
