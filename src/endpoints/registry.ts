import type { Endpoint } from './endpoint.ts';
import { balance } from './wallet/balance.ts';

/** Every endpoint of the REST interface. */
export const endpoints: readonly Endpoint[] = [balance];
