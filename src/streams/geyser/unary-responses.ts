import {
  decodeCommitmentRequest,
  decodeIsBlockhashValidRequest,
  decodePingRequest,
  encodeGetBlockHeightResponse,
  encodeGetLatestBlockhashResponse,
  encodeGetSlotResponse,
  encodeGetVersionResponse,
  encodeIsBlockhashValidResponse,
  encodePongResponse,
  encodeSubscribeReplayInfoResponse,
} from '../../protocol/geyser/unary.ts';
import { GrpcError } from '../../protocol/grpc/status.ts';
import type { Slot } from '../../solana/units.ts';
import { BLOCKHASH_AGE_MAX, type ChainView } from './chain-view.ts';
import type { UnaryRpc } from './geyser-handler.ts';

/** Chain state that responses are built from. */
type ChainState = Readonly<{
  chain: ChainView;
  /** JSON text. */
  version: string;
  /** The lowest slot that a stream may start at; null for none. */
  firstAvailable: Slot | null;
}>;

type UnaryHandler = (request: Uint8Array, state: ChainState) => Uint8Array;

function requireAvailable<T>(value: T | null): T {
  if (value === null) throw new GrpcError('INTERNAL', 'block is not available yet');
  return value;
}

function isBlockhashValid(request: Uint8Array, { chain }: ChainState): Uint8Array {
  const { blockhash, commitment } = decodeIsBlockhashValidRequest(request);
  const slot = requireAvailable(chain.slot(commitment));
  const valid = chain.isBlockhashValid(blockhash, commitment);
  if (valid === null) throw new GrpcError('INTERNAL', 'startup');
  return encodeIsBlockhashValidResponse(slot, valid);
}

function latestBlockhash(request: Uint8Array, { chain }: ChainState): Uint8Array {
  const commitment = decodeCommitmentRequest(request);
  const { slot, blockhash, blockHeight } = requireAvailable(chain.block(commitment));
  // The same height as JSON-RPC and the ledger; the plugin adds twice as many blocks.
  return encodeGetLatestBlockhashResponse({
    slot,
    blockhash,
    lastValidBlockHeight: blockHeight + BLOCKHASH_AGE_MAX,
  });
}

function blockHeight(request: Uint8Array, { chain }: ChainState): Uint8Array {
  const commitment = decodeCommitmentRequest(request);
  return encodeGetBlockHeightResponse(requireAvailable(chain.block(commitment)).blockHeight);
}

function slot(request: Uint8Array, { chain }: ChainState): Uint8Array {
  const commitment = decodeCommitmentRequest(request);
  return encodeGetSlotResponse(requireAvailable(chain.slot(commitment)));
}

const handlers: Readonly<Record<UnaryRpc, UnaryHandler>> = {
  SubscribeReplayInfo: (_request, { firstAvailable }) => encodeSubscribeReplayInfoResponse(firstAvailable),
  Ping: (request) => encodePongResponse(decodePingRequest(request)),
  GetLatestBlockhash: latestBlockhash,
  GetBlockHeight: blockHeight,
  GetSlot: slot,
  IsBlockhashValid: isBlockhashValid,
  GetVersion: (_request, { version }) => encodeGetVersionResponse(version),
};

/**
 * Response to a unary call about the chain.
 * @throws GrpcError INTERNAL while too few blocks are known; InvalidProtobuf.
 */
export const respondUnary = (rpc: UnaryRpc, request: Uint8Array, state: ChainState): Uint8Array =>
  handlers[rpc](request, state);
