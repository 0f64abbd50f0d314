import { setTimeout as sleep } from 'node:timers/promises';
import { operatorApi } from '../service/operator-token.ts';
import type { RunningService } from '../service/start-service.ts';
import { ClientCounts } from './client-counts.ts';
import { type Comparison, isEqual, PageTotals } from './compare.ts';
import { createCustomer, MixedCalls } from './mixed-calls.ts';

export type Exactness = Readonly<{
  counts: ClientCounts;
  comparisons: readonly Comparison[];
  /** From the last call until the totals of all customers were displayed. */
  delayMs: number;
}>;

/** Time within which all calls are displayed. */
const PROMISED_MS = 5_000;
const RETRY_MS = 200;
const MINUTE_MS = 60_000;

/**
 * Makes mixed calls for several customers, and compares what their clients count with every page.
 * @param isFresh - whether the service had no other traffic.
 */
export async function runMixedCalls(
  { ready, dataDir }: RunningService,
  { calls, customers: number }: Readonly<{ calls: number; customers: number }>,
  isFresh: boolean,
): Promise<Exactness> {
  const api = await operatorApi(ready.url, dataDir);
  const from = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
  const counts = new ClientCounts();
  const customers = [];
  for (let index = 1; index <= number; index++)
    customers.push(await createCustomer(api, `Customer ${index}`));
  await Promise.all(
    customers.map((customer) => new MixedCalls(customer, counts, ready).send(Math.ceil(calls / number))),
  );
  const endedAt = performance.now();
  const pages = new PageTotals(api, counts, from, customers);
  // All pages read what the first one reads.
  while (!(await pages.compareCustomers()).every(isEqual) && performance.now() - endedAt < PROMISED_MS)
    await sleep(RETRY_MS);
  const delayMs = performance.now() - endedAt;
  return { counts, delayMs, comparisons: await pages.compareAll(isFresh) };
}
