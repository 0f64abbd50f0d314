import type { Connection } from '@solana/web3.js';
import { eventually } from '../service/eventually.ts';

/** What web3.js knows of its subscriptions; it has no public word for it. */
type Known = {
  _subscriptionHashByClientSubscriptionId: Record<number, string | undefined>;
  _subscriptionsByHash: Record<string, { state: string } | undefined>;
};

/** Whether a listener's subscription was acknowledged. */
function isListening(connection: Connection, id: number): boolean {
  const known = connection as unknown as Known;
  const hash = known._subscriptionHashByClientSubscriptionId[id] ?? '';
  return known._subscriptionsByHash[hash]?.state === 'subscribed';
}

/** How to listen, how to end it, and what to do meanwhile. */
export type FirstUpdate<Update> = readonly [
  listen: (listener: (...observed: [Update, ...unknown[]]) => void) => number,
  unlisten: (id: number) => Promise<void>,
  act?: () => Promise<unknown>,
];

/** What a listener of web3.js is told first; `act` is done once, when it listens, so that a miss shows. */
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
