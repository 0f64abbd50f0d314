import type { Address } from '../../ledger/address.ts';
import type { Named, SlotsFilter } from './subscribe-request.ts';

/** What is empty or absent asks nothing. Source: geyser.proto, `SubscribeRequestFilterDeshredTransactions`. */
export type DeshredTransactionsFilter = Readonly<{
  vote?: boolean;
  /** Any of them. */
  accountInclude?: readonly Address[];
  /** None of them. */
  accountExclude?: readonly Address[];
  /** All of them. */
  accountRequired?: readonly Address[];
}>;

/** All filters by their names: each request replaces the one before. Source: geyser.proto, `SubscribeDeshredRequest`. */
export type SubscribeDeshredRequest = Readonly<{
  deshredTransactions?: Named<DeshredTransactionsFilter>;
  slots?: Named<SlotsFilter>;
  /** The request is a ping and nothing else. */
  ping?: number;
}>;
