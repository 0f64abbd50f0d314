import { type JsonObject, member, optional, readBoolean, readVariant } from '../rpc/serde.ts';
import { readEncoding, readMaxVersion, transactionDetails } from '../rpc/transaction-encoding.ts';
import type { TransactionView } from '../subscriptions.ts';

/** The members of a config that say how transactions are shown: `base64`, `full` and no rewards by default. */
export const transactionViewOf = (config: JsonObject): TransactionView => ({
  encoding: readEncoding(member(config, 'encoding')) ?? 'base64',
  details:
    optional(member(config, 'transactionDetails'), (name) => readVariant(name, transactionDetails)) ?? 'full',
  rewards: optional(member(config, 'showRewards'), readBoolean) ?? false,
  maxVersion: readMaxVersion(config) ?? undefined,
});
