import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../base/json.ts';
import { addressFromBytes } from '../../solana/address.ts';
import { signatureFromBytes } from '../../solana/signature.ts';
import { RpcError } from '../rpc-error.ts';
import type { Subscription, SubscriptionKind } from '../subscriptions.ts';
import { parseSubscription } from './parse-subscription.ts';
import { topicKey, upstreamParams } from './topic-key.ts';

const KEY = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const SYSTEM = '11111111111111111111111111111111';
const SIGNATURE = '5h6xBEauJ3PK6SWCZ1PGjBvj8vDdWG3KpwATGy1ARAXFSDwt8GFXM7W5Ncn16wmqokgpiKRLuS83KUxyZyv2sUYv';

const parse = (kind: SubscriptionKind, params: string) => parseSubscription(kind, parseJson(params));
const keyOf = (kind: SubscriptionKind, params: string): string => topicKey(parse(kind, params));

describe('topicKey', () => {
  it('is equal for equivalent parameters', () => {
    expect(keyOf('account', `["${KEY}",{"commitment":"max"}]`)).toBe(keyOf('account', `["${KEY}"]`));
    const options = '{"maxSupportedTransactionVersion":0}';
    const one = `[{"accountInclude":["${KEY}","${SYSTEM}"],"vote":null},${options}]`;
    const other = `[{"accountInclude":["${SYSTEM}","${KEY}","${KEY}"]},${options}]`;
    expect(keyOf('transaction', one)).toBe(keyOf('transaction', other));
  });

  it.each<[SubscriptionKind, string, string]>([
    ['account', `["${KEY}"]`, `["${KEY}",{"commitment":"confirmed"}]`],
    ['program', `["${KEY}"]`, `["${KEY}",{"filters":["tokenAccountState"]}]`],
    ['logs', '["all"]', '["allWithVotes"]'],
    ['signature', `["${SIGNATURE}"]`, `["${SIGNATURE}",{"enableReceivedNotification":true}]`],
    ['block', '["all"]', '["all",{"maxSupportedTransactionVersion":0}]'],
    [
      'transaction',
      `[{"accountInclude":["${KEY}"]},{"maxSupportedTransactionVersion":0}]`,
      `[{"accounts":{"include":["${KEY}"]}},{"maxSupportedTransactionVersion":0}]`,
    ],
  ])('of %s differs between %s and %s', (kind, one, other) => {
    expect(keyOf(kind, one)).not.toBe(keyOf(kind, other));
  });
});

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const address = bytes(32).map(addressFromBytes);
const addresses = fc.uniqueArray(address, { maxLength: 4 }).map((list) => list.sort());
const commitment = fc.constantFrom('processed', 'confirmed', 'finalized');
const encoding = fc.constantFrom('binary', 'base58', 'base64', 'jsonParsed', 'base64+zstd');
const u64 = fc.bigInt({ min: 0n, max: 0xffff_ffff_ffff_ffffn });
const maybe = fc.option(fc.boolean());
const view = {
  encoding: fc.constantFrom('binary', 'base64', 'base58', 'json', 'jsonParsed'),
  details: fc.constantFrom('full', 'signatures', 'none', 'accounts'),
  rewards: fc.boolean(),
  maxVersion: fc.nat(255),
};
const filter = fc.oneof(
  fc.record({ kind: fc.constant('dataSize'), size: u64 }),
  fc.record({ kind: fc.constant('memcmp'), offset: u64, bytes: fc.uint8Array({ maxLength: 128 }) }),
  fc.record({ kind: fc.constant('tokenAccountState') }),
);
const of = fc.oneof(fc.constantFrom('all', 'allWithVotes'), fc.record({ mentions: address }));
const signature = bytes(64).map(signatureFromBytes);
const transactionFilter = {
  ...{ vote: maybe, failed: maybe, signature: fc.option(signature) },
  ...{ include: addresses, exclude: addresses, required: addresses },
};
const transaction = (dialect: string, tokenAccounts: fc.Arbitrary<string>) =>
  fc.record({
    ...{ kind: fc.constant('transaction'), dialect: fc.constant(dialect), commitment, ...view },
    filter: fc.record({ ...transactionFilter, tokenAccounts }),
  });

/** Any subscription with parameters. */
const subscription = fc.oneof(
  fc.record({ kind: fc.constant('account'), address, commitment, encoding }),
  fc.record({
    ...{ kind: fc.constant('program'), program: address, commitment, encoding },
    filters: fc.array(filter, { maxLength: 4 }),
  }),
  fc.record({ kind: fc.constant('logs'), of, commitment }),
  fc.record({ kind: fc.constant('signature'), signature, commitment, received: fc.boolean() }),
  fc.record({
    ...{ kind: fc.constant('block'), mentions: fc.option(address), ...view },
    commitment: fc.constantFrom('confirmed', 'finalized'),
  }),
  transaction('helius', fc.constantFrom('none', 'balanceChanged', 'all')),
  transaction('whirligig', fc.constant('none')),
) as fc.Arbitrary<Subscription>;

it('upstream parameters are parsed to the same subscription', () => {
  fc.assert(
    fc.property(subscription, (given) => {
      expect(parse(given.kind, upstreamParams(given).toString())).toEqual(given);
    }),
  );
});

it('any parameters are accepted or rejected with an RPC error', () => {
  const kind = fc.constantFrom('account', 'program', 'logs', 'signature', 'slot', 'block', 'transaction');
  fc.assert(
    fc.property(kind, fc.jsonValue(), (name, params) => {
      try {
        topicKey(parse(name as SubscriptionKind, JSON.stringify(params)));
      } catch (error) {
        expect(error).toBeInstanceOf(RpcError);
      }
    }),
  );
});

it('a topic key of many addresses is short and depends on each', () => {
  const keyOfList = (count: number): string => {
    const addresses = Array.from({ length: count }, (_, at) => {
      const bytes = Buffer.alloc(32);
      bytes.writeUInt32BE(at);
      return addressFromBytes(bytes);
    });
    const options = { transactionDetails: 'signatures' };
    return keyOf('transaction', JSON.stringify([{ accountInclude: addresses }, options]));
  };
  expect(keyOfList(1_000).length).toBeLessThan(100);
  expect(keyOfList(1_000)).toBe(keyOfList(1_000));
  expect(keyOfList(1_000)).not.toBe(keyOfList(1_001));
});
