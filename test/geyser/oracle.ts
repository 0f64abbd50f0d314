import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type {
  SubscribeUpdateAccountInfo,
  SubscribeUpdateTransactionInfo,
} from '@triton-one/yellowstone-grpc';
import type { AccountWrite } from '../../src/protocol/geyser/update/account.ts';
import { addressBytes } from '../../src/solana/address.ts';
import { blockhashBytes } from '../../src/solana/blockhash.ts';
import type { Message } from '../../src/solana/message/message.ts';
import { signatureBytes } from '../../src/solana/signature.ts';
import type { Transaction } from '../../src/solana/transaction/transaction.ts';
import {
  type BlockReward,
  rewardTypes,
  type TokenBalance,
  type TransactionMeta,
} from '../../src/solana/transaction/transaction-meta.ts';

/** Converts Solway's values to the shape of the published codec, to compare them with its output. */

export type OracleTransaction = NonNullable<SubscribeUpdateTransactionInfo['transaction']>;
export type OracleMeta = NonNullable<SubscribeUpdateTransactionInfo['meta']>;

type OracleBlock = {
  previousBlockhash: string;
  blockhash: string;
  parentSlot: string;
  transactions: { transaction: OracleTransaction | undefined; meta: OracleMeta | undefined }[];
  rewards: OracleMeta['rewards'];
  blockTime: { timestamp: string } | undefined;
  blockHeight: { blockHeight: string } | undefined;
  numPartitions: { numPartitions: string } | undefined;
};

const require = createRequire(import.meta.url);
const published = dirname(require.resolve('@triton-one/yellowstone-grpc'));

/** The published codec for stored blocks, which its package contains but does not export. */
export const { ConfirmedBlock } = require(join(published, 'grpc/solana-storage.js')) as {
  ConfirmedBlock: { decode(bytes: Uint8Array): OracleBlock };
};

const plain = (bytes: Uint8Array): Uint8Array => Uint8Array.from(bytes);

export function oracleMessage(message: Message): NonNullable<OracleTransaction['message']> {
  return {
    header: { ...message.header },
    accountKeys: message.accountKeys.map((key) => plain(addressBytes(key))),
    recentBlockhash: plain(blockhashBytes(message.recentBlockhash)),
    instructions: message.instructions.map(({ programIdIndex, accounts, data }) => ({
      programIdIndex,
      accounts: plain(accounts),
      data: plain(data),
    })),
    versioned: message.version !== 'legacy',
    addressTableLookups: message.addressTableLookups.map((lookup) => ({
      accountKey: plain(addressBytes(lookup.accountKey)),
      writableIndexes: plain(lookup.writableIndexes),
      readonlyIndexes: plain(lookup.readonlyIndexes),
    })),
  };
}

export const oracleTransaction = ({ signatures, message }: Transaction): OracleTransaction => ({
  signatures: signatures.map((signature) => plain(signatureBytes(signature))),
  message: oracleMessage(message),
});

/** A token balance without UI amounts, which follow from amount and decimals. */
type TokenFacts = Readonly<{
  accountIndex: number;
  mint: string;
  owner: string;
  programId: string;
  amount: string;
  decimals: number;
}>;

const tokenFacts = ({ amount, owner, programId, ...rest }: TokenBalance): TokenFacts => ({
  ...rest,
  owner: owner ?? '',
  programId: programId ?? '',
  amount: String(amount),
});

const readTokenFacts = (balance: OracleMeta['preTokenBalances'][number]): TokenFacts => ({
  accountIndex: balance.accountIndex,
  mint: balance.mint,
  owner: balance.owner,
  programId: balance.programId,
  amount: balance.uiTokenAmount?.amount || '0',
  decimals: balance.uiTokenAmount?.decimals ?? 0,
});

export const oracleReward = (reward: BlockReward): OracleMeta['rewards'][number] => ({
  pubkey: reward.pubkey,
  lamports: String(reward.lamports),
  postBalance: String(reward.postBalance),
  rewardType: reward.rewardType === null ? 0 : rewardTypes.indexOf(reward.rewardType) + 1,
  commission: reward.commission === null ? '' : String(reward.commission),
  commissionBps: '',
});

const returnDataOf = ({ returnData }: TransactionMeta): OracleMeta['returnData'] =>
  returnData === null
    ? undefined
    : { programId: plain(addressBytes(returnData.programId)), data: plain(returnData.data) };

/** All of a meta except its error, which is compared separately. */
export const metaFacts = (meta: TransactionMeta) => ({
  fee: String(meta.fee),
  preBalances: meta.preBalances.map(String),
  postBalances: meta.postBalances.map(String),
  innerInstructions: (meta.innerInstructions ?? []).map(({ index, instructions }) => ({
    index,
    instructions: instructions.map(({ stackHeight, accounts, data, programIdIndex }) => ({
      programIdIndex,
      accounts: plain(accounts),
      data: plain(data),
      stackHeight: stackHeight ?? undefined,
    })),
  })),
  innerInstructionsNone: meta.innerInstructions === null,
  logMessages: meta.logMessages ?? [],
  logMessagesNone: meta.logMessages === null,
  preTokenBalances: (meta.preTokenBalances ?? []).map(tokenFacts),
  postTokenBalances: (meta.postTokenBalances ?? []).map(tokenFacts),
  rewards: (meta.rewards ?? []).map(oracleReward),
  loadedWritableAddresses: meta.loadedAddresses.writable.map((key) => plain(addressBytes(key))),
  loadedReadonlyAddresses: meta.loadedAddresses.readonly.map((key) => plain(addressBytes(key))),
  returnData: returnDataOf(meta),
  computeUnitsConsumed: meta.computeUnitsConsumed === null ? undefined : String(meta.computeUnitsConsumed),
  costUnits: meta.costUnits === null ? undefined : String(meta.costUnits),
});

/** The same for a meta decoded by the published codec. */
export function oracleMetaFacts({
  err: _err,
  returnDataNone,
  ...meta
}: OracleMeta): ReturnType<typeof metaFacts> {
  return {
    ...meta,
    innerInstructions: (meta.innerInstructionsNone ? [] : meta.innerInstructions).map(
      ({ index, instructions }) => ({
        index,
        instructions: instructions.map((instruction) => ({
          programIdIndex: instruction.programIdIndex,
          accounts: plain(instruction.accounts),
          data: plain(instruction.data),
          stackHeight: instruction.stackHeight,
        })),
      }),
    ),
    logMessages: meta.logMessagesNone ? [] : meta.logMessages,
    preTokenBalances: meta.preTokenBalances.map(readTokenFacts),
    postTokenBalances: meta.postTokenBalances.map(readTokenFacts),
    loadedWritableAddresses: meta.loadedWritableAddresses.map(plain),
    loadedReadonlyAddresses: meta.loadedReadonlyAddresses.map(plain),
    returnData:
      returnDataNone || meta.returnData === undefined
        ? undefined
        : { programId: plain(meta.returnData.programId), data: plain(meta.returnData.data) },
    computeUnitsConsumed: meta.computeUnitsConsumed,
    costUnits: meta.costUnits,
  };
}

export const oracleAccount = ({
  address,
  account,
  writeVersion,
  signature,
}: AccountWrite): SubscribeUpdateAccountInfo => ({
  pubkey: plain(addressBytes(address)),
  lamports: String(account.lamports),
  owner: plain(addressBytes(account.owner)),
  executable: account.executable,
  rentEpoch: String(account.rentEpoch),
  data: plain(account.data),
  writeVersion: String(writeVersion),
  txnSignature: signature === null ? undefined : plain(signatureBytes(signature)),
});
