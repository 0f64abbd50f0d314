import type { Endpoint } from './endpoint.ts';
import { balance } from './wallet/balance.ts';
import { getDomains } from './wallet/get_domains.ts';
import { resolveAddress } from './wallet/resolve_address.ts';
import { stakeAccounts } from './wallet/stake_accounts.ts';

/** Every endpoint of the REST interface. */
export const endpoints: readonly Endpoint[] = [balance, getDomains, resolveAddress, stakeAccounts];
