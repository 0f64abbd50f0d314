import { type SubscriptionKind, subscriptions } from '../subscriptions.ts';

/** What a method of PubSub does, and with which kind of subscription. */
export type SubscriptionMethod = Readonly<{ kind: SubscriptionKind; action: 'subscribe' | 'unsubscribe' }>;

const methods = new Map<string, SubscriptionMethod>(
  (Object.keys(subscriptions) as SubscriptionKind[]).flatMap((kind) => [
    [subscriptions[kind].subscribe, { kind, action: 'subscribe' }],
    [subscriptions[kind].unsubscribe, { kind, action: 'unsubscribe' }],
  ]),
);

/** The method of that name; undefined when it is none of PubSub's. */
export const subscriptionByMethod = (name: string): SubscriptionMethod | undefined => methods.get(name);
