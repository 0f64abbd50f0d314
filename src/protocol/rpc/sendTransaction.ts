import type { JsonValue } from '../../base/json.ts';
import type { Signature } from '../../solana/signature.ts';
import type { Slot } from '../../solana/units.ts';
import { type Commitment, commitments } from '../commitment.ts';
import { at, positional, readMinContextSlot } from './parameters.ts';
import {
  member,
  optional,
  optionalMember,
  readFlag,
  readPlainStruct,
  readString,
  readUsize,
  readVariant,
} from './serde.ts';
import { type BinaryEncoding, binaryEncoding, readEncoding } from './transaction-encoding.ts';

export type SendTransactionParams = Readonly<{
  data: string;
  encoding: BinaryEncoding;
  skipPreflight: boolean;
  preflightCommitment: Commitment;
  minContextSlot: Slot | null;
  /** Maximum retries by the node; null: it retries until the blockhash expires. */
  maxRetries: bigint | null;
}>;
export type SendTransactionResult = Signature;

const FIELDS = ['skipPreflight', 'preflightCommitment', 'encoding', 'maxRetries', 'minContextSlot'];

/** Unlike in other methods, an unknown commitment is an error. */
export function parseSendTransaction(params: JsonValue | undefined): SendTransactionParams {
  const list = positional(params, 1, 2);
  const data = at(list, 0, readString);
  const config =
    optional(list[1], (value) => readPlainStruct(value, 'RpcSendTransactionConfig', FIELDS)) ?? {};
  const encoding = readEncoding(member(config, 'encoding'));
  const maxRetries = optionalMember(config, 'maxRetries', readUsize);
  const minContextSlot = readMinContextSlot(config);
  const commitment = optionalMember(config, 'preflightCommitment', (name) => readVariant(name, commitments));
  const skipPreflight = readFlag(config, 'skipPreflight');
  return {
    data,
    encoding: binaryEncoding(encoding),
    skipPreflight,
    preflightCommitment: skipPreflight ? 'processed' : (commitment ?? 'finalized'),
    minContextSlot,
    maxRetries,
  };
}
