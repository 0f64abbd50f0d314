import type { Endpoint } from './endpoint.ts';
import { create } from './metadata/create.ts';
import { read } from './nft/read.ts';
import { readAll, readAllUnpaged } from './nft/read_all.ts';
import { readSelected } from './nft/read_selected.ts';
import { search } from './nft/search.ts';
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
import { semiWalletChangePassword } from './wallet/semi_wallet_change_password.ts';
import { semiWalletGetKeypair } from './wallet/semi_wallet_get_keypair.ts';
import { sendSol } from './wallet/send_sol.ts';
import { stakeAccounts } from './wallet/stake_accounts.ts';
import { tokenBalance } from './wallet/token_balance.ts';
import { transactionHistory } from './wallet/transaction_history.ts';

/** Every endpoint of the REST interface. */
export const endpoints: readonly Endpoint[] = [
  create,
  read,
  readAll,
  readAllUnpaged,
  readSelected,
  search,
  upload,
  getInfo,
  history,
  parseSelected,
  parsed,
  raw,
  sendManyTxns,
  sendTxn,
  allTokens,
  balance,
  collections,
  createSemiWallet,
  decryptSemiWallet,
  getDomains,
  getPortfolio,
  resolveAddress,
  semiWalletChangePassword,
  semiWalletGetKeypair,
  sendSol,
  stakeAccounts,
  tokenBalance,
  transactionHistory,
];
