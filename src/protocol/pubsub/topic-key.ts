import { createHash } from 'node:crypto';
import { type WritableJson, writeJson } from '../../base/json.ts';
import { encodeBase58 } from '../../solana/base58.ts';
import type { AccountFilter } from '../rpc/account-filter.ts';
import type { Subscription, SubscriptionOf, TransactionView } from '../subscriptions.ts';

const encodeFilter = (filter: AccountFilter): WritableJson => {
  switch (filter.kind) {
    case 'dataSize':
      return { dataSize: filter.size };
    case 'memcmp':
      return { memcmp: { offset: filter.offset, bytes: encodeBase58(filter.bytes), encoding: 'base58' } };
    case 'tokenAccountState':
      return 'tokenAccountState';
  }
};

const encodeView = (view: TransactionView): WritableJson & object => ({
  encoding: view.encoding,
  transactionDetails: view.details,
  showRewards: view.rewards,
  maxSupportedTransactionVersion: view.maxVersion,
});

/** Sorts and deduplicates a list in which neither order nor duplicates matter. */
const sorted = <T extends string>(list: readonly T[]): T[] => [...new Set(list)].sort();

function encodeTransactionFilter({ dialect, filter }: SubscriptionOf<'transaction'>): WritableJson {
  const include = sorted(filter.include);
  const exclude = sorted(filter.exclude);
  const required = sorted(filter.required);
  const common = {
    vote: filter.vote ?? undefined,
    failed: filter.failed ?? undefined,
    signature: filter.signature ?? undefined,
  };
  if (dialect === 'whirligig') return { ...common, accounts: { include, exclude, required } };
  return {
    ...common,
    accountInclude: include,
    accountExclude: exclude,
    accountRequired: required,
    tokenAccounts: filter.tokenAccounts,
  };
}

function encodeParams(subscription: Subscription): readonly WritableJson[] {
  switch (subscription.kind) {
    case 'account': {
      const { address, commitment, encoding } = subscription;
      return [address, { commitment, encoding }];
    }
    case 'program': {
      const { program, commitment, encoding, filters } = subscription;
      return [program, { commitment, encoding, filters: filters.map(encodeFilter) }];
    }
    case 'logs': {
      const { of, commitment } = subscription;
      return [typeof of === 'string' ? of : { mentions: [of.mentions] }, { commitment }];
    }
    case 'signature': {
      const { signature, commitment, received } = subscription;
      return [signature, { commitment, enableReceivedNotification: received }];
    }
    case 'block': {
      const { mentions, commitment } = subscription;
      const filter = mentions === null ? 'all' : { mentionsAccountOrProgram: mentions };
      return [filter, { commitment, ...encodeView(subscription) }];
    }
    case 'transaction': {
      const { commitment } = subscription;
      return [encodeTransactionFilter(subscription), { commitment, ...encodeView(subscription) }];
    }
    default:
      return [];
  }
}

/** Raw JSON params, including defaults. Equal subscriptions give equal bytes. Transaction params keep their dialect. */
export const upstreamParams = (subscription: Subscription): Buffer =>
  Buffer.from(writeJson(encodeParams(subscription)));

/** Equal subscriptions have equal keys. The order of `program` filters matters, as in Agave. */
export function topicKey(subscription: Subscription): string {
  const params = writeJson(encodeParams(subscription));
  if (params.length <= KEY_MAX_LENGTH) return `${subscription.kind} ${params}`;
  return `${subscription.kind} sha256 ${createHash('sha256').update(params).digest('base64')}`;
}

/** Longer parameters are hashed, because address lists can be megabytes long. */
const KEY_MAX_LENGTH = 1_024;
