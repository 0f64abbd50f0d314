import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import {
  at,
  limitInputs,
  positional,
  readSignature,
  STATUSES_MAX,
} from '../../../../src/protocol/rpc/parameters.ts';
import {
  optional,
  readBoolean,
  readPlainStruct,
  readStrings,
  required,
} from '../../../../src/protocol/rpc/serde.ts';
import { encodeStatus } from '../../../../src/solana/encoding/ui-meta.ts';
import type { Signature } from '../../../../src/solana/signature.ts';
import type { LocalNode, SignatureStatus } from '../node.ts';
import { withContext } from './context.ts';

const readSearchHistory = (value: JsonValue): boolean =>
  required(
    readPlainStruct(value, 'RpcSignatureStatusConfig', ['searchTransactionHistory']),
    'searchTransactionHistory',
    readBoolean,
  );

/** `[signatures], {searchTransactionHistory}`; at most 256 signatures. */
export function parseGetSignatureStatuses(params: JsonValue | undefined) {
  const list = positional(params, 1, 2);
  const texts = at(list, 0, readStrings);
  const searchHistory = optional(list[1], readSearchHistory) ?? false;
  limitInputs(texts, STATUSES_MAX);
  return { signatures: texts.map(readSignature), searchHistory };
}

function encode(node: LocalNode, { slot, err }: SignatureStatus): WritableJson {
  const finalized = slot <= node.bank('finalized').slot;
  const unsettled = slot <= node.bank('confirmed').slot ? 'confirmed' : 'processed';
  return {
    confirmationStatus: finalized ? 'finalized' : unsettled,
    // Each block counts as a vote for itself and its ancestors.
    confirmations: finalized ? null : node.bank('processed').slot - slot + 1n,
    err,
    slot,
    status: encodeStatus(err),
  };
}

/** Searches finalized blocks; newer ones are in the status cache. */
function fromHistory(node: LocalNode, signature: Signature): SignatureStatus | null {
  const location = node.history.locate(signature);
  return location !== null && location.slot <= node.bank('finalized').slot ? location : null;
}

/** null for unknown transactions. */
export function getSignatureStatuses(node: LocalNode, params: JsonValue | undefined): WritableJson {
  const { signatures, searchHistory } = parseGetSignatureStatuses(params);
  const statuses = signatures.map((signature) => {
    const status = node.recentStatus(signature) ?? (searchHistory ? fromHistory(node, signature) : null);
    return status === null ? null : encode(node, status);
  });
  return withContext(node.bank('processed'), statuses);
}
