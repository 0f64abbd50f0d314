import { type JsonValue, parseJson, writeJson } from '../../base/json.ts';
import { decodeBase58Text } from '../../protocol/rpc/base58-text.ts';
import { decodeBase64 } from '../../protocol/rpc/base64-text.ts';
import { parseSendTransaction, type SendTransactionParams } from '../../protocol/rpc/sendTransaction.ts';
import { RpcError } from '../../protocol/rpc-error.ts';
import type { Blockhash } from '../../solana/blockhash.ts';
import { nonceOfTransaction } from '../../solana/nonce.ts';
import { type Signature, signatureFromBytes } from '../../solana/signature.ts';
import { decodeTransaction } from '../../solana/transaction/decode-transaction.ts';
import { readWireTransaction } from '../../solana/transaction/wire-transaction.ts';

/** Longest text of a transaction; those of version 1 may be so long. Source: Agave rpc/src/rpc.rs. */
const TEXT_MAX = 5_464;

/** A whole transaction that is to be sent, and how whoever sends it wants it sent. */
export type SubmitRequest = Readonly<{
  signature: Signature;
  /** That it stands on; null for one on a durable nonce, and where a version puts it elsewhere. */
  blockhash: Blockhash | null;
  /** Its bytes in base64, however they were written: all that may be sent of it. */
  text: string;
  skipPreflight: boolean;
  /** What decides besides the transaction whether it is accepted; equal for who wants the same. */
  conditions: string;
  /** How often it may be rebroadcast. */
  rebroadcastsMax: number;
  /** For the node that is asked first. */
  firstNodeParams: Buffer;
  /** For the other nodes, where nobody looks at it first. */
  otherNodeParams: Buffer;
  /** For everybody else: nothing but the transaction. */
  plain: Buffer;
}>;

const paramsOf = (text: string, config: Readonly<Record<string, JsonValue>>): Buffer =>
  Buffer.from(writeJson([text, config]));

const plainConfig = { encoding: 'base64', skipPreflight: true, maxRetries: 0 } as const;

function blockhashOf(bytes: Uint8Array): Blockhash | null {
  const decoded = decodeTransaction(bytes);
  if ('fault' in decoded) return null;
  const { message } = decoded.transaction;
  return nonceOfTransaction(message) === null ? message.recentBlockhash : null;
}

/**
 * What the node that is asked first is told. Who leaves maxRetries out gets what that one node does then: it repeats
 * the transaction by itself, also when this process is no more. A number is ours to keep, since of each node it would
 * be as many again.
 */
function firstNodeParamsOf(params: Buffer, value: JsonValue, { maxRetries }: SendTransactionParams): Buffer {
  if (maxRetries === null) return params;
  const [text, config] = value as [string, JsonValue];
  // An array of all fields stands for the object; the order of fields is parseSendTransaction's.
  const fields = Array.isArray(config)
    ? config.map((field, at) => (at === MAX_RETRIES_AT ? 0 : field))
    : { ...(config as Readonly<Record<string, JsonValue>>), maxRetries: 0 };
  return Buffer.from(writeJson([text, fields]));
}

const MAX_RETRIES_AT = 3;

function read(params: Buffer): SubmitRequest | null {
  const value = parseJson(params.toString('utf8'));
  const parsed = parseSendTransaction(value);
  const { data, encoding, skipPreflight, preflightCommitment, minContextSlot, maxRetries } = parsed;
  if (data.length > TEXT_MAX) return null;
  const decoded = encoding === 'base58' ? decodeBase58Text(data) : decodeBase64(data);
  const wire = 'fault' in decoded ? null : readWireTransaction(decoded.bytes);
  if (wire === null) return null;
  const text = encoding === 'base64' ? data : Buffer.from(wire.bytes).toString('base64');
  return {
    signature: signatureFromBytes(wire.signature),
    blockhash: blockhashOf(wire.bytes),
    text,
    skipPreflight,
    conditions: `${skipPreflight} ${preflightCommitment} ${minContextSlot}`,
    rebroadcastsMax: maxRetries === null ? Number.POSITIVE_INFINITY : Number(maxRetries),
    firstNodeParams: firstNodeParamsOf(params, value, parsed),
    otherNodeParams: paramsOf(
      text,
      minContextSlot === null ? plainConfig : { ...plainConfig, minContextSlot },
    ),
    plain: paramsOf(text, plainConfig),
  };
}

/**
 * Reads the params of sendTransaction, as strictly as a node does.
 * @returns null for whatever a node would refuse for its form, and for bytes that go on after a transaction: what is
 * wrong with it is then said by a node, in its own words.
 */
export function parseSubmitRequest(params: Buffer | null): SubmitRequest | null {
  if (params === null) return null;
  try {
    return read(params);
  } catch (thrown) {
    if (thrown instanceof RpcError || thrown instanceof SyntaxError) return null;
    throw thrown;
  }
}
