import type { JsonValue } from '../../../../src/base/json.ts';
import { at, exactly } from '../../../../src/protocol/rpc/parameters.ts';
import { readU64 } from '../../../../src/protocol/rpc/serde.ts';
import { slot } from '../../../../src/solana/units.ts';
import { activeStakes } from '../epoch-rewards/stake-accounts.ts';
import type { LocalNode } from '../node.ts';

/** Lamports that voted for the block, by confirmations; null for an unknown block. */
type GetBlockCommitmentResult = Readonly<{
  commitment: readonly bigint[] | null;
  totalStake: bigint;
}>;

/** `slot`; it is required. */
export const parseGetBlockCommitment = (params: JsonValue | undefined) => ({
  slot: slot(at(exactly(params, 1), 0, readU64)),
});

/** Number of votes in a tower; earlier ones are rooted. */
const VOTES_MAX = 31n;
/** Entries of the list: one per number of confirmations; the last one is rooted. */
const COMMITMENT_LENGTH = 32;
/** Source: agave runtime/src/status_cache.rs, `MAX_CACHE_ENTRIES`. */
const ROOTS_MAX = 300n;

/** Index of the node's stake in the list; null if it did not vote for the slot or the slot has expired. */
function commitmentIndexOf(slot: bigint, tip: bigint): number | null {
  if (tip === 0n || slot > tip) return null;
  const root = tip - VOTES_MAX;
  if (slot <= root - ROOTS_MAX) return null;
  if (root > 0n && slot <= root) return COMMITMENT_LENGTH - 1;
  // The first vote, for slot 1, also covers slot 0.
  return Number(tip - (slot === 0n ? 1n : slot));
}

/**
 * Stake by number of confirmations, as of the newest block.
 * @see agave core/src/commitment_service.rs, `aggregate_commitment`
 */
export function getBlockCommitment(node: LocalNode, params: JsonValue | undefined): GetBlockCommitmentResult {
  const { slot } = parseGetBlockCommitment(params);
  const bank = node.bank('processed');
  const stakes = activeStakes(bank);
  const own = stakes.get(node.genesis.voteAccount) ?? 0n;
  const index = commitmentIndexOf(slot, bank.slot);
  return {
    commitment:
      index === null ? null : Array.from({ length: COMMITMENT_LENGTH }, (_, i) => (i === index ? own : 0n)),
    totalStake: [...stakes.values()].reduce((sum: bigint, stake) => sum + stake, 0n),
  };
}
