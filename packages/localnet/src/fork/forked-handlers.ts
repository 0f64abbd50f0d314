import type { JsonValue } from '../../../../src/base/json.ts';
import { readAddress } from '../../../../src/protocol/rpc/parameters.ts';
import { parseSendTransaction } from '../../../../src/protocol/rpc/sendTransaction.ts';
import { type Address, addressBytes } from '../../../../src/solana/address.ts';
import { findProgramAddress } from '../../../../src/solana/program-address.ts';
import { isTokenProgram, programs } from '../../../../src/solana/programs.ts';
import type { OpenLocalNode } from '../genesis/open.ts';
import { decodeMessageText, decodeTransactionText } from '../rpc/decode-wire.ts';
import { parseGetAccountInfo } from '../rpc/getAccountInfo.ts';
import { parseGetBalance } from '../rpc/getBalance.ts';
import { parseGetFeeForMessage } from '../rpc/getFeeForMessage.ts';
import { parseGetMultipleAccounts } from '../rpc/getMultipleAccounts.ts';
import { parseGetTokenAccountBalance } from '../rpc/getTokenAccountBalance.ts';
import { parseGetTokenAccountsByDelegate } from '../rpc/getTokenAccountsByDelegate.ts';
import { parseGetTokenAccountsByOwner } from '../rpc/getTokenAccountsByOwner.ts';
import { parseGetTokenLargestAccounts } from '../rpc/getTokenLargestAccounts.ts';
import { parseGetTokenSupply } from '../rpc/getTokenSupply.ts';
import { parseRequestAirdrop } from '../rpc/requestAirdrop.ts';
import { parseSimulateTransaction } from '../rpc/simulateTransaction.ts';
import type { TokenFilter } from '../rpc/token-filter.ts';
import type { RpcHandler } from '../rpc-handler.ts';
import type { AccountFork } from './account-fork.ts';

type Params = JsonValue | undefined;
type Prepare = (fork: AccountFork, params: Params, node: OpenLocalNode) => Promise<void>;

/** Reads accounts, and the mints of token accounts among them. */
async function accounts(fork: AccountFork, addresses: readonly Address[]): Promise<void> {
  await fork.ensure(addresses);
  await fork.ensureReferred(addresses);
}

const filtered = (fork: AccountFork, { by, key }: TokenFilter<Address>): Promise<void> =>
  fork.ensure(by === 'mint' ? [key] : []);

async function ownedTokens(fork: AccountFork, params: Params, node: OpenLocalNode): Promise<void> {
  const { owner, filter } = parseGetTokenAccountsByOwner(params);
  await filtered(fork, filter);
  const program = filter.by === 'mint' ? node.newestAccount(filter.key)?.owner : undefined;
  if (program === undefined || !isTokenProgram(program)) return;
  const seeds = [owner, program, filter.key].map(addressBytes);
  await fork.ensure([findProgramAddress(seeds, programs.ata).address]);
}

/** What each method reads by address. Methods that search accounts find those that the ledger has. */
const prepares: Readonly<Record<string, Prepare>> = {
  getAccountInfo: (fork, params) => accounts(fork, [parseGetAccountInfo(params).address]),
  getBalance: (fork, params) => fork.ensure([parseGetBalance(params).address]),
  getFeeForMessage: (fork, params) =>
    fork.ensureMessage(decodeMessageText(parseGetFeeForMessage(params).data)),
  getMultipleAccounts: (fork, params) => accounts(fork, parseGetMultipleAccounts(params).addresses),
  getTokenAccountBalance: (fork, params) => accounts(fork, [parseGetTokenAccountBalance(params).address]),
  getTokenAccountsByDelegate: (fork, params) =>
    filtered(fork, parseGetTokenAccountsByDelegate(params).filter),
  getTokenAccountsByOwner: ownedTokens,
  getTokenLargestAccounts: (fork, params) => fork.ensure([parseGetTokenLargestAccounts(params).address]),
  getTokenSupply: (fork, params) => fork.ensure([parseGetTokenSupply(params).address]),
  requestAirdrop: (fork, params) => fork.ensure([parseRequestAirdrop(params).address]),
  sendTransaction: (fork, params) => {
    const { data, encoding } = parseSendTransaction(params);
    return fork.ensureMessage(decodeTransactionText(data, encoding).transaction.message);
  },
  simulateTransaction: async (fork, params) => {
    const { data, encoding, accounts: shown } = parseSimulateTransaction(params);
    await fork.ensureMessage(decodeTransactionText(data, encoding).transaction.message);
    await accounts(fork, (shown?.addresses ?? []).map(readAddress));
  },
};

/** The handlers, which first read from the forked cluster what they need. Without fork, the handlers as they are. */
export function withFork(
  handlers: Readonly<Record<string, RpcHandler>>,
  node: OpenLocalNode,
): Readonly<Record<string, RpcHandler>> {
  const { fork } = node;
  if (fork === null) return handlers;
  const forked = Object.entries(handlers).map(([name, handler]): [string, RpcHandler] => {
    const prepare = Object.hasOwn(prepares, name) ? prepares[name] : undefined;
    if (prepare === undefined) return [name, handler];
    const forkedHandler: RpcHandler = async (from, params) => {
      await prepare(fork, params, node);
      return handler(from, params);
    };
    return [name, forkedHandler];
  });
  return Object.fromEntries(forked);
}
