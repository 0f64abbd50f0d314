import type { Connection } from '@solana/web3.js';
import { eventually } from '../service/eventually.ts';

/** Private subscription state of web3.js. */
type Known = {
  _subscriptionHashByClientSubscriptionId: Record<number, string | undefined>;
  _subscriptionsByHash: Record<string, { state: string } | undefined>;
};

function isListening(connection: Connection, id: number): boolean {
  const known = connection as unknown as Known;
  const hash = known._subscriptionHashByClientSubscriptionId[id] ?? '';
  return known._subscriptionsByHash[hash]?.state === 'subscribed';
}

export type FirstUpdate<Update> = readonly [
  listen: (listener: (...observed: [Update, ...unknown[]]) => void) => number,
  unlisten: (id: number) => Promise<void>,
  act?: () => Promise<unknown>,
];

/** The first notification to a web3.js listener; `act` runs once when the subscription is acknowledged. */
export async function firstUpdate<Update>(
  connection: Connection,
  ...[listen, unlisten, act = async () => {}]: FirstUpdate<Update>
): Promise<Update> {
  const { promise, resolve } = Promise.withResolvers<Update>();
  let isObserved = false;
  const id = listen((value) => {
    isObserved = true;
    resolve(value);
  });
  await eventually(async () => isObserved || isListening(connection, id), 'the client listens');
  await act();
  const value = await promise;
  await unlisten(id);
  return value;
}
