import type { MethodName } from '../../../src/protocol/methods.ts';
import { getAccountInfo } from './rpc/getAccountInfo.ts';
import { getAgGenesisCert } from './rpc/getAgGenesisCert.ts';
import { getBalance } from './rpc/getBalance.ts';
import { getBlock } from './rpc/getBlock.ts';
import { getBlockCommitment } from './rpc/getBlockCommitment.ts';
import { getBlockHeight } from './rpc/getBlockHeight.ts';
import { getBlockProduction } from './rpc/getBlockProduction.ts';
import { getBlocks } from './rpc/getBlocks.ts';
import { getBlocksWithLimit } from './rpc/getBlocksWithLimit.ts';
import { getBlockTime } from './rpc/getBlockTime.ts';
import { getClusterNodes } from './rpc/getClusterNodes.ts';
import { getEpochInfo } from './rpc/getEpochInfo.ts';
import { getEpochSchedule } from './rpc/getEpochSchedule.ts';
import { getFeeForMessage } from './rpc/getFeeForMessage.ts';
import { getFirstAvailableBlock } from './rpc/getFirstAvailableBlock.ts';
import { getGenesisHash } from './rpc/getGenesisHash.ts';
import { getHealth } from './rpc/getHealth.ts';
import { getHighestSnapshotSlot } from './rpc/getHighestSnapshotSlot.ts';
import { getIdentity } from './rpc/getIdentity.ts';
import { getInflationGovernor } from './rpc/getInflationGovernor.ts';
import { getInflationRate } from './rpc/getInflationRate.ts';
import { getInflationReward } from './rpc/getInflationReward.ts';
import { getLargestAccounts } from './rpc/getLargestAccounts.ts';
import { getLatestBlockhash } from './rpc/getLatestBlockhash.ts';
import { getLeaderSchedule } from './rpc/getLeaderSchedule.ts';
import { getMaxRetransmitSlot } from './rpc/getMaxRetransmitSlot.ts';
import { getMaxShredInsertSlot } from './rpc/getMaxShredInsertSlot.ts';
import { getMinimumBalanceForRentExemption } from './rpc/getMinimumBalanceForRentExemption.ts';
import { getMultipleAccounts } from './rpc/getMultipleAccounts.ts';
import { getProgramAccounts } from './rpc/getProgramAccounts.ts';
import { getRecentPerformanceSamples } from './rpc/getRecentPerformanceSamples.ts';
import { getRecentPrioritizationFees } from './rpc/getRecentPrioritizationFees.ts';
import { getSignatureStatuses } from './rpc/getSignatureStatuses.ts';
import { getSignaturesForAddress } from './rpc/getSignaturesForAddress.ts';
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
import { getTransaction } from './rpc/getTransaction.ts';
import { getTransactionCount } from './rpc/getTransactionCount.ts';
import { getTransactionsForAddress } from './rpc/getTransactionsForAddress.ts';
import { getVersion } from './rpc/getVersion.ts';
import { getVoteAccounts } from './rpc/getVoteAccounts.ts';
import { isBlockhashValid } from './rpc/isBlockhashValid.ts';
import { minimumLedgerSlot } from './rpc/minimumLedgerSlot.ts';
import { requestAirdrop } from './rpc/requestAirdrop.ts';
import { sendTransaction } from './rpc/sendTransaction.ts';
import { simulateTransaction } from './rpc/simulateTransaction.ts';
import type { RpcHandler } from './rpc-handler.ts';

/** By wire name. */
export const rpcHandlers = {
  getAccountInfo,
  getBalance,
  getBlock,
  getBlockHeight,
  getBlockTime,
  getBlocks,
  getBlocksWithLimit,
  getClusterNodes,
  getEpochInfo,
  getEpochSchedule,
  getFeeForMessage,
  getFirstAvailableBlock,
  getGenesisHash,
  getHealth,
  getIdentity,
  getInflationRate,
  getLatestBlockhash,
  getLeaderSchedule,
  getMinimumBalanceForRentExemption,
  getMultipleAccounts,
  getProgramAccounts,
  getRecentPrioritizationFees,
  getSignatureStatuses,
  getSignaturesForAddress,
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
  getTransaction,
  getTransactionCount,
  getVersion,
  getVoteAccounts,
  isBlockhashValid,
  minimumLedgerSlot,
  requestAirdrop,
  sendTransaction,
  simulateTransaction,
  getAgGenesisCert,
  getBlockCommitment,
  getBlockProduction,
  getHighestSnapshotSlot,
  getInflationGovernor,
  getInflationReward,
  getLargestAccounts,
  getMaxRetransmitSlot,
  getMaxShredInsertSlot,
  getRecentPerformanceSamples,
  getTransactionsForAddress,
} satisfies Record<MethodName, RpcHandler>;
