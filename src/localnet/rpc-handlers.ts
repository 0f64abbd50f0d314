import type { MethodName } from '../protocol/methods.ts';
import { getAccountInfo } from './rpc/getAccountInfo.ts';
import { getBalance } from './rpc/getBalance.ts';
import { getBlockHeight } from './rpc/getBlockHeight.ts';
import { getClusterNodes } from './rpc/getClusterNodes.ts';
import { getEpochInfo } from './rpc/getEpochInfo.ts';
import { getEpochSchedule } from './rpc/getEpochSchedule.ts';
import { getGenesisHash } from './rpc/getGenesisHash.ts';
import { getHealth } from './rpc/getHealth.ts';
import { getIdentity } from './rpc/getIdentity.ts';
import { getInflationRate } from './rpc/getInflationRate.ts';
import { getLeaderSchedule } from './rpc/getLeaderSchedule.ts';
import { getMinimumBalanceForRentExemption } from './rpc/getMinimumBalanceForRentExemption.ts';
import { getMultipleAccounts } from './rpc/getMultipleAccounts.ts';
import { getProgramAccounts } from './rpc/getProgramAccounts.ts';
import { getSlot } from './rpc/getSlot.ts';
import { getSlotLeader } from './rpc/getSlotLeader.ts';
import { getSlotLeaders } from './rpc/getSlotLeaders.ts';
import { getStakeMinimumDelegation } from './rpc/getStakeMinimumDelegation.ts';
import { getSupply } from './rpc/getSupply.ts';
import { getTokenAccountBalance } from './rpc/getTokenAccountBalance.ts';
import { getTokenAccountsByDelegate } from './rpc/getTokenAccountsByDelegate.ts';
import { getTokenAccountsByOwner } from './rpc/getTokenAccountsByOwner.ts';
import { getTokenLargestAccounts } from './rpc/getTokenLargestAccounts.ts';
import { getTokenSupply } from './rpc/getTokenSupply.ts';
import { getTransactionCount } from './rpc/getTransactionCount.ts';
import { getVersion } from './rpc/getVersion.ts';
import { getVoteAccounts } from './rpc/getVoteAccounts.ts';
import type { RpcHandler } from './rpc-handler.ts';

/** The methods the embedded ledger answers, by wire name. */
export const rpcHandlers = {
  getAccountInfo,
  getBalance,
  getBlockHeight,
  getClusterNodes,
  getEpochInfo,
  getEpochSchedule,
  getGenesisHash,
  getHealth,
  getIdentity,
  getInflationRate,
  getLeaderSchedule,
  getMinimumBalanceForRentExemption,
  getMultipleAccounts,
  getProgramAccounts,
  getSlot,
  getSlotLeader,
  getSlotLeaders,
  getStakeMinimumDelegation,
  getSupply,
  getTokenAccountBalance,
  getTokenAccountsByDelegate,
  getTokenAccountsByOwner,
  getTokenLargestAccounts,
  getTokenSupply,
  getTransactionCount,
  getVersion,
  getVoteAccounts,
} satisfies Partial<Record<MethodName, RpcHandler>>;
