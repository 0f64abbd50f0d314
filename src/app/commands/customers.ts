import { type ApiClient, remoteApi } from '../../control/api/client.ts';
import type { RouteInput, RouteOutput } from '../../control/api/contract/contract.ts';
import { checkStoreExists } from '../store.ts';
import { type OfflineOptions, withOfflineApi } from './offline-api.ts';

type Query = NonNullable<RouteInput<'GET /customers'>['query']>;
export type CustomerRow = RouteOutput<'GET /customers'>['items'][number];

export type CustomerCommands = ReturnType<typeof commandsOf>;

const PAGE_CUSTOMERS = 200;

function commandsOf(api: ApiClient) {
  return {
    /** @param limit - maximum customers to return. */
    async list(query: Query, limit: number): Promise<CustomerRow[]> {
      const all: CustomerRow[] = [];
      let cursor: string | undefined;
      do {
        const pageLimit = Math.min(PAGE_CUSTOMERS, limit - all.length);
        const page = await api.call('GET /customers', { query: { ...query, limit: pageLimit, cursor } });
        all.push(...page.items);
        cursor = page.next ?? undefined;
      } while (cursor !== undefined && all.length < limit);
      return all;
    },
    /** @param name - the customer's name, as a confirmation. */
    delete: (id: string, name: string) =>
      api.call('POST /customers/{customer}/delete', { path: { customer: id }, body: { name } }),
  };
}

/** @throws the same errors as `withOfflineApi` */
export function withCustomerCommands<Result>(
  options: OfflineOptions,
  work: (commands: CustomerCommands) => Promise<Result>,
): Promise<Result> {
  checkStoreExists(options.configuration);
  return withOfflineApi(options, (api) => work(commandsOf(api)));
}

export const remoteCustomerCommands = (service: Parameters<typeof remoteApi>[0]): CustomerCommands =>
  commandsOf(remoteApi(service));
