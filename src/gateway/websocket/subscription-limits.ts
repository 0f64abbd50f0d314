/** Limits of a key family across all its connections, in addition to its plan's limits. */
export const subscriptionLimits = {
  keySubscriptionsMax: 5_000,
  /** Total number of addresses in open subscriptions. */
  keyAddressesMax: 200_000,
};

export type SubscriptionLimits = Readonly<typeof subscriptionLimits>;
