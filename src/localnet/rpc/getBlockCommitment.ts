import type { JsonValue } from '../../base/json.ts';
import {
  type GetBlockCommitmentResult,
  parseGetBlockCommitment,
} from '../../protocol/rpc/getBlockCommitment.ts';
import { activeStakes } from '../bank/vote-stake.ts';
import type { LocalNode } from '../node.ts';

/** Votes that a validator holds; the one before them is rooted. */
const VOTES_MAX = 31n;
/** Places of the answer: a vote's confirmations, and last that it is rooted. */
const PLACES = 32;
/** Rooted slots that a node still has votes for. Source: agave runtime/src/status_cache.rs, `MAX_CACHE_ENTRIES`. */
const ROOTS_MAX = 300n;

/** Where the node's vote for a slot stands; null where it has none, or has it no longer. */
function placeOf(slot: bigint, tip: bigint): number | null {
  if (tip === 0n || slot > tip) return null;
  const root = tip - VOTES_MAX;
  if (slot <= root - ROOTS_MAX) return null;
  if (root > 0n && slot <= root) return PLACES - 1;
  // The first vote is for slot 1, and stands for what lies below it.
  return Number(tip - (slot === 0n ? 1n : slot));
}

/**
 * How much stake has voted for a block and how deep those votes are, as of the newest block.
 * @see agave core/src/commitment_service.rs, `aggregate_commitment`
 */
export function getBlockCommitment(node: LocalNode, params: JsonValue | undefined): GetBlockCommitmentResult {
  const { slot } = parseGetBlockCommitment(params);
  const bank = node.bank('processed');
  const stakes = activeStakes(bank);
  const own = stakes.get(node.genesis.voteAccount) ?? 0n;
  const place = placeOf(slot, bank.slot);
  return {
    commitment: place === null ? null : Array.from({ length: PLACES }, (_, i) => (i === place ? own : 0n)),
    totalStake: [...stakes.values()].reduce((sum: bigint, stake) => sum + stake, 0n),
  };
}
