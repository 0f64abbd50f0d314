import type { EndpointName } from '../protocol/rest/endpoint-names.ts';
import type { Endpoint } from './endpoint.ts';
import { create } from './metadata/create.ts';
import { read } from './nft/read.ts';
import { readAll } from './nft/read_all.ts';
import { readAllV1 } from './nft/read_all_v1.ts';
import { readSelected } from './nft/read_selected.ts';
import { search } from './nft/search.ts';
import { changePassword } from './semi_wallet/change_password.ts';
import { getKeypair } from './semi_wallet/get_keypair.ts';
import { upload } from './storage/upload.ts';
import { getInfo } from './token/get_info.ts';
import { history } from './transaction/history.ts';
import { parseSelected } from './transaction/parse_selected.ts';
import { parsed } from './transaction/parsed.ts';
import { raw } from './transaction/raw.ts';
import { sendManyTxns } from './transaction/send_many_txns.ts';
import { sendTxn } from './transaction/send_txn.ts';
import { allTokens } from './wallet/all_tokens.ts';
import { balance } from './wallet/balance.ts';
import { collections } from './wallet/collections.ts';
import { createSemiWallet } from './wallet/create_semi_wallet.ts';
import { decryptSemiWallet } from './wallet/decrypt_semi_wallet.ts';
import { getDomains } from './wallet/get_domains.ts';
import { getPortfolio } from './wallet/get_portfolio.ts';
import { resolveAddress } from './wallet/resolve_address.ts';
import { sendSol } from './wallet/send_sol.ts';
import { stakeAccounts } from './wallet/stake_accounts.ts';
import { tokenBalance } from './wallet/token_balance.ts';
import { transactionHistory } from './wallet/transaction_history.ts';

const registry = {
  'metadata/create': create,
  'nft/read': read,
  'nft/read_all': readAll,
  'nft/read_all_v1': readAllV1,
  'nft/read_selected': readSelected,
  'nft/search': search,
  'semi_wallet/change_password': changePassword,
  'semi_wallet/get_keypair': getKeypair,
  'storage/upload': upload,
  'token/get_info': getInfo,
  'transaction/history': history,
  'transaction/parse_selected': parseSelected,
  'transaction/parsed': parsed,
  'transaction/raw': raw,
  'transaction/send_many_txns': sendManyTxns,
  'transaction/send_txn': sendTxn,
  'wallet/all_tokens': allTokens,
  'wallet/balance': balance,
  'wallet/collections': collections,
  'wallet/create_semi_wallet': createSemiWallet,
  'wallet/decrypt_semi_wallet': decryptSemiWallet,
  'wallet/get_domains': getDomains,
  'wallet/get_portfolio': getPortfolio,
  'wallet/resolve_address': resolveAddress,
  'wallet/send_sol': sendSol,
  'wallet/stake_accounts': stakeAccounts,
  'wallet/token_balance': tokenBalance,
  'wallet/transaction_history': transactionHistory,
} satisfies Record<EndpointName, Endpoint>;

export const endpoints: readonly Endpoint[] = Object.values(registry);
