import type { JsonValue } from '../../base/json.ts';
import { type Slot, slot } from '../../solana/units.ts';
import type { Commitment } from '../commitment.ts';
import { at, lenientCommitment, positional } from './parameters.ts';
import { type JsonObject, member, optional, readBoolean, readU64, readVariant } from './serde.ts';
import {
  readEncoding,
  readEncodingConfig,
  readMaxVersion,
  type TransactionEncoding,
} from './transaction-encoding.ts';

/** How much of each transaction a block shows. Order of Agave's `TransactionDetails`. */
export const transactionDetails = ['full', 'signatures', 'none', 'accounts'] as const;
export type TransactionDetails = (typeof transactionDetails)[number];

export type GetBlockParams = Readonly<{
  slot: Slot;
  encoding: TransactionEncoding;
  details: TransactionDetails;
  rewards: boolean;
  commitment: Commitment;
  maxVersion: number | null;
}>;

const readConfig = (config: JsonObject): Omit<GetBlockParams, 'slot'> => ({
  encoding: readEncoding(member(config, 'encoding')) ?? 'json',
  details:
    optional(member(config, 'transactionDetails'), (name) => readVariant(name, transactionDetails)) ?? 'full',
  rewards: optional(member(config, 'rewards'), readBoolean) ?? true,
  commitment: lenientCommitment(config),
  maxVersion: readMaxVersion(config),
});

/** `slot, encoding | {encoding, transactionDetails, rewards, commitment, maxSupportedTransactionVersion}`. */
export function parseGetBlock(params: JsonValue | undefined): GetBlockParams {
  const list = positional(params, 1, 2);
  return { slot: slot(at(list, 0, readU64)), ...readEncodingConfig(list[1], readConfig) };
}
