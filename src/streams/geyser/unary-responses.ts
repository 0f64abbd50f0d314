import type { Commitment } from '../../protocol/commitment.ts';
import type { RawBlockMeta } from '../../protocol/geyser/raw-update.ts';
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
import type { UnaryRpc } from './geyser-handler.ts';
import { type Level, levelOf } from './slot-content.ts';

/** Number of blocks for which a blockhash is valid. Source: Agave, `MAX_PROCESSING_AGE`. */
const BLOCKHASH_AGE_MAX = 150n;
/** Maximum number of tracked blocks, including forks; must exceed BLOCKHASH_AGE_MAX. */
const BLOCKS_MAX = 400;

type ChainBlock = Readonly<{ slot: Slot; blockhash: string; blockHeight: bigint }>;

type TrackedBlock = ChainBlock & { level: Level | -1 };

export class ChainView {
  readonly #blocks = new Map<Slot, TrackedBlock>();
  readonly #byHash = new Map<string, TrackedBlock>();
  readonly #newestSlot: [Slot | null, Slot | null, Slot | null] = [null, null, null];
  readonly #newestBlock: [TrackedBlock | null, TrackedBlock | null, TrackedBlock | null] = [null, null, null];

  /** Adds a block, which replaces any block from an earlier version of the slot. Ignores blocks without a height. */
  add({ slot, blockhash, blockHeight }: RawBlockMeta): void {
    if (blockHeight === null) return;
    this.#remove(this.#blocks.get(slot));
    const block: TrackedBlock = { slot, blockhash, blockHeight, level: -1 };
    this.#blocks.set(slot, block);
    this.#byHash.set(blockhash, block);
    if (this.#blocks.size > BLOCKS_MAX) this.#remove(this.#blocks.values().next().value);
  }

  advance(slot: Slot, level: Level): void {
    const newest = this.#newestSlot[level];
    if (newest === null || slot > newest) this.#newestSlot[level] = slot;
    const block = this.#blocks.get(slot);
    if (block === undefined) return;
    if (block.level < level) block.level = level;
    const newestBlock = this.#newestBlock[level];
    if (newestBlock === null || slot >= newestBlock.slot) this.#newestBlock[level] = block;
  }

  slot(commitment: Commitment): Slot | null {
    return this.#newestSlot[levelOf(commitment)];
  }

  block(commitment: Commitment): ChainBlock | null {
    return this.#newestBlock[levelOf(commitment)];
  }

  /** Whether a transaction with the blockhash may still land; null if too few blocks are known. */
  isBlockhashValid(blockhash: string, commitment: Commitment): boolean | null {
    const level = levelOf(commitment);
    const newest = this.#newestBlock[level];
    if (newest === null) return null;
    const tracked = this.#byHash.get(blockhash);
    if (tracked !== undefined && tracked.level >= level) {
      return newest.blockHeight - tracked.blockHeight <= BLOCKHASH_AGE_MAX;
    }
    return this.#hasBlocksSince(newest.blockHeight - BLOCKHASH_AGE_MAX) ? false : null;
  }

  #hasBlocksSince(blockHeight: bigint): boolean {
    const [first] = this.#blocks.values();
    return first !== undefined && (first.blockHeight <= blockHeight || first.blockHeight <= 1n);
  }

  #remove(block: TrackedBlock | undefined): void {
    if (block === undefined) return;
    this.#blocks.delete(block.slot);
    if (this.#byHash.get(block.blockhash) === block) this.#byHash.delete(block.blockhash);
  }
}

type ChainState = Readonly<{
  chain: ChainView;
  version: string;
  /** First slot at which a stream may start; null if there is none. */
  firstAvailable: Slot | null;
}>;

function requireAvailable<T>(value: T | null): T {
  if (value === null) throw new GrpcError('INTERNAL', 'block is not available yet');
  return value;
}

function respondIsBlockhashValid(request: Uint8Array, { chain }: ChainState): Uint8Array {
  const { blockhash, commitment } = decodeIsBlockhashValidRequest(request);
  const slot = requireAvailable(chain.slot(commitment));
  const valid = chain.isBlockhashValid(blockhash, commitment);
  if (valid === null) throw new GrpcError('INTERNAL', 'startup');
  return encodeIsBlockhashValidResponse(slot, valid);
}

function respondLatestBlockhash(request: Uint8Array, { chain }: ChainState): Uint8Array {
  const commitment = decodeCommitmentRequest(request);
  const { slot, blockhash, blockHeight } = requireAvailable(chain.block(commitment));
  // The same value as in JSON-RPC and the ledger. The Yellowstone plugin adds twice as many blocks.
  return encodeGetLatestBlockhashResponse({
    slot,
    blockhash,
    lastValidBlockHeight: blockHeight + BLOCKHASH_AGE_MAX,
  });
}

const handlers: Readonly<Record<UnaryRpc, (request: Uint8Array, state: ChainState) => Uint8Array>> = {
  SubscribeReplayInfo: (_request, { firstAvailable }) => encodeSubscribeReplayInfoResponse(firstAvailable),
  Ping: (request) => encodePongResponse(decodePingRequest(request)),
  GetLatestBlockhash: respondLatestBlockhash,
  GetBlockHeight: (request, { chain }) =>
    encodeGetBlockHeightResponse(requireAvailable(chain.block(decodeCommitmentRequest(request))).blockHeight),
  GetSlot: (request, { chain }) =>
    encodeGetSlotResponse(requireAvailable(chain.slot(decodeCommitmentRequest(request)))),
  IsBlockhashValid: respondIsBlockhashValid,
  GetVersion: (_request, { version }) => encodeGetVersionResponse(version),
};

/** @throws GrpcError INTERNAL while too few blocks are known; InvalidProtobuf. */
export const respondUnary = (rpc: UnaryRpc, request: Uint8Array, state: ChainState): Uint8Array =>
  handlers[rpc](request, state);
