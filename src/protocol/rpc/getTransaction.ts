import type { JsonValue } from '../../base/json.ts';
import type { Signature } from '../../solana/signature.ts';
import type { Commitment } from '../commitment.ts';
import { at, lenientCommitment, positional, readSignature } from './parameters.ts';
import { type JsonObject, member, readString } from './serde.ts';
import {
  readEncoding,
  readEncodingConfig,
  readMaxVersion,
  type TransactionEncoding,
} from './transaction-encoding.ts';

export type GetTransactionParams = Readonly<{
  signature: Signature;
  encoding: TransactionEncoding;
  commitment: Commitment;
  maxVersion: number | null;
}>;

const readConfig = (config: JsonObject): Omit<GetTransactionParams, 'signature'> => ({
  encoding: readEncoding(member(config, 'encoding')) ?? 'json',
  commitment: lenientCommitment(config),
  maxVersion: readMaxVersion(config),
});

/** `signature, encoding | {encoding, commitment, maxSupportedTransactionVersion}`. */
export function parseGetTransaction(params: JsonValue | undefined): GetTransactionParams {
  const list = positional(params, 1, 2);
  const text = at(list, 0, readString);
  const config = readEncodingConfig(list[1], readConfig);
  return { signature: readSignature(text), ...config };
}
