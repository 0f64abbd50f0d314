import type { Endpoint } from './endpoint.ts';
import { history } from './transaction/history.ts';
import { parseSelected } from './transaction/parse_selected.ts';
import { parsed } from './transaction/parsed.ts';
import { raw } from './transaction/raw.ts';
import { balance } from './wallet/balance.ts';
import { getDomains } from './wallet/get_domains.ts';
import { resolveAddress } from './wallet/resolve_address.ts';
import { stakeAccounts } from './wallet/stake_accounts.ts';
import { transactionHistory } from './wallet/transaction_history.ts';

/** Every endpoint of the REST interface. */
export const endpoints: readonly Endpoint[] = [
  history,
  parseSelected,
  parsed,
  raw,
  balance,
  getDomains,
  resolveAddress,
  stakeAccounts,
  transactionHistory,
];
