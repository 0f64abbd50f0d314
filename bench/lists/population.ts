import { DEFAULT_CUSTOMER_ID } from '../../src/control/accounts/roles.ts';
import { base58, hexOf, randomFrom, skewed } from './random.ts';

export type Sizes = Readonly<{ keys: number; customers: number; logRows: number }>;

/** Share of the keys that belong to the built-in customer, which may have any number. */
const DEFAULT_CUSTOMER_SHARE = 0.5;

/** Customers from the largest to the smallest, and their keys. */
export type Population = Readonly<{
  customerIds: readonly string[];
  /** Ids of the keys of each customer. */
  keyIds: readonly (readonly string[])[];
}>;

/** The same population for the same sizes. */
export function populationOf({ keys, customers }: Sizes): Population {
  const random = randomFrom(1);
  const customerIds = Array.from({ length: customers }, (_, at) =>
    at === 0 ? DEFAULT_CUSTOMER_ID : hexOf(`customer ${at}`, 16),
  );
  const keyIds = customerIds.map((): string[] => []);
  for (let key = 0; key < keys; key++) {
    const isDefault = random() < DEFAULT_CUSTOMER_SHARE;
    keyIds[isDefault ? 0 : skewed(random, customers)]!.push(base58(random, 8));
  }
  return { customerIds, keyIds };
}
