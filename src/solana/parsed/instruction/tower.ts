import type { ByteReader } from '../../../base/bytes.ts';
import { U64_MAX } from '../../units.ts';
import { readCompactLength, readHash, readList, readOption, readVarint, Undecodable } from '../bincode.ts';
import type { Members } from '../wire-order.ts';

/** A proposed tower as bincode writes it whole. Source: solana-vote-interface, `VoteStateUpdate`. */
export function readTower(data: ByteReader): Members {
  return {
    // Written by serde without renaming: the one snake_case name in a parsed instruction.
    lockouts: readList(data, () => ({ slot: data.u64(), confirmation_count: data.u32() })),
    root: readOption(data, () => data.u64()),
    hash: readHash(data),
    timestamp: readOption(data, () => data.i64()),
  };
}

function readLockoutOffsets(data: ByteReader, root: bigint): Members[] {
  let slot = root;
  return Array.from({ length: readCompactLength(data) }, () => {
    slot += readVarint(data);
    if (slot > U64_MAX) throw new Undecodable('lockout slot beyond u64');
    return { slot, confirmation_count: data.u8() };
  });
}

/**
 * A proposed tower in its short form: the root (u64::MAX for none), then each lockout's distance from the slot
 * before it. Source: solana-vote-interface, `serde_compact_vote_state_update` and `serde_tower_sync`.
 */
export function readCompactTower(data: ByteReader): Members {
  const root = data.u64();
  const lockouts = readLockoutOffsets(data, root === U64_MAX ? 0n : root);
  return {
    lockouts,
    root: root === U64_MAX ? null : root,
    hash: readHash(data),
    timestamp: readOption(data, () => data.i64()),
  };
}
